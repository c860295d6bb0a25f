#pragma once

#include <redco/kernel/product.hpp>
#include <redco/comm/collective_label.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/product_runs.hpp>

#include <cstdint>
#include <vector>

// What nodes share whose messages pass on a lane beside their products. Groups and lanes outlive the graph.

namespace redco::detail::overlapped {

using node = torch::autograd::AutogradContext;
using gradients_of_node = torch::autograd::variable_list;

template <class T>
std::int64_t handle_of(T& one) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&one));
}
template <class T>
T& held(node& ctx, char const* name) {
  return *reinterpret_cast<T*>(ctx.saved_data[name].toInt());
}

inline at::Tensor as_rows(at::Tensor const& x) { return x.contiguous().view({-1, x.size(-1)}); }
inline at::Tensor as_examples(at::Tensor const& x) { return x.contiguous().view({-1, x.size(-2), x.size(-1)}); }

inline std::vector<std::int64_t> with_features(at::Tensor const& x, std::int64_t features) {
  auto sizes = x.sizes().vec();
  sizes.back() = features;
  return sizes;
}

/// Examples [B, T / shards, features] on their way into whole ones, run by run. T divides.
class joined_tokens {
 public:
  /// `whole` [B, T, features] is filled with those of all shards.
  joined_tokens(at::Tensor const& own, at::Tensor const& whole, group& shards, comm::lane& lane)
      : cut(whole.size(0), 1, whole.size(1)), shards_(shards), lane_(lane) {
    comm::collective_label const label("all_gather_entered");
    cut.for_each([&](std::int64_t first, std::int64_t many) {
      last_ = lane.ask([from = own.narrow(0, first, many), to = whole.narrow(0, first, many)](group& ranks) {
        to.copy_(ranks.all_gather(from, -2));
      });
    });
  }

  /// Calls f(first, how many) for each run, when it is there.
  template <class F>
  void for_each(F const& f) {
    std::uint64_t next = last_ - static_cast<std::uint64_t>(cut.count());
    cut.for_each([&](std::int64_t first, std::int64_t many) {
      lane_.wait(++next);
      f(first, many);
    });
    lane_.wait();
    shards_.count_as_one(collective::all_gather, cut.count());
  }

  product_runs const cut;

 private:
  group& shards_;
  comm::lane& lane_;
  std::uint64_t last_ = 0;
};

/// The sums over the shards of examples [B, T, features], of which each gets its T / shards tokens, run by run.
class token_sums {
 public:
  token_sums(std::int64_t examples, std::int64_t tokens, std::int64_t features, at::TensorOptions const& options,
             group& shards, comm::lane& lane)
      : cut(examples, 1, tokens),
        sums_(at::empty({examples, tokens / shards.size(), features}, options)),
        shards_(shards),
        lane_(lane) {}

  /// The examples from `first` on, in memory that nobody else reads.
  void add(std::int64_t first, at::Tensor const& part) {
    comm::collective_label const label("reduce_scatter");
    lane_.ask(
        [part, to = sums_.narrow(0, first, part.size(0))](group& ranks) { to.copy_(ranks.reduce_scatter(part, -2)); });
  }

  at::Tensor result() {
    lane_.wait();
    shards_.count_as_one(collective::reduce_scatter, cut.count());
    return sums_;
  }

  product_runs const cut;

 private:
  at::Tensor sums_;
  group& shards_;
  comm::lane& lane_;
};

/// The sums over the shards of a b, whose rows are those of `examples` of `tokens` each: this rank's tokens [examples, own, features].
inline token_sums product_sums(at::Tensor const& a, at::Tensor const& b, std::int64_t tokens, group& shards,
                               comm::lane& lane) {
  token_sums sums(a.size(0) / tokens, tokens, b.size(1), a.options(), shards, lane);
  sums.cut.for_each([&](std::int64_t first, std::int64_t many) {
    at::Tensor const part = at::empty({many, tokens, b.size(1)}, a.options());
    kernel::product_into(as_rows(part), a.narrow(0, first * tokens, many * tokens), b);
    sums.add(first, part);
  });
  return sums;
}

}  // namespace redco::detail::overlapped
