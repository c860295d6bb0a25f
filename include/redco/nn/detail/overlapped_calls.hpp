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
      : cut(whole.size(0), 1, whole.size(1), whole.size(2) * whole.element_size(), lane.least_bytes),
        shards_(shards),
        lane_(lane) {
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

/// The sums of a product over the shards, on their way.
struct sums_under_way {
  at::Tensor sums;
  collective kind;
  std::int64_t calls;
  group& shards;
  comm::lane& lane;

  at::Tensor const& wait() const {
    lane.wait();
    shards.count_as_one(kind, calls);
    return sums;
  }
};

/// Those of a b, whose rows are those of a whole product of these sizes, run by run, each while the next is made: of all rows, or of
/// this rank's run of tokens.
inline sums_under_way sums_of_product(at::Tensor const& a, at::Tensor const& b, std::vector<std::int64_t> sizes,
                                      bool by_tokens, group& shards, comm::lane& lane) {
  constexpr std::int64_t rows_of_cache_lines = 16;
  std::int64_t& tokens_of_one = sizes[sizes.size() - 2];
  std::int64_t const features = sizes.back(), tokens = by_tokens ? tokens_of_one : 1, rows = a.size(0);
  comm::collective_label const label(by_tokens ? "reduce_scatter" : "reduce");
  if (by_tokens) tokens_of_one /= shards.size();
  at::Tensor const sums = at::empty(sizes, a.options());
  at::Tensor const result = sums.view({rows / tokens, -1, features});
  product_runs const cut(rows / tokens, by_tokens ? 1 : shards.size() * rows_of_cache_lines, tokens,
                         features * a.element_size(), lane.least_bytes);
  cut.for_each([&](std::int64_t first, std::int64_t many) {
    at::Tensor const to = result.narrow(0, first, many);
    at::Tensor const part = by_tokens ? at::empty({many, tokens, features}, a.options()) : to;
    kernel::product_into(part.view({-1, features}), a.narrow(0, first * tokens, many * tokens), b);
    if (by_tokens) lane.ask([part, to](group& ranks) { to.copy_(ranks.reduce_scatter(part, -2)); });
    else lane.all_reduce(part);
  });
  return {sums, by_tokens ? collective::reduce_scatter : collective::all_reduce, cut.count(), shards, lane};
}

}  // namespace redco::detail::overlapped
