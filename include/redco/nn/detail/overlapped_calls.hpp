#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/pieces.hpp>

#include <cstdint>
#include <vector>

// Helpers of autograd nodes that exchange messages on a lane (a communication thread) during their
// products. Groups and lanes outlive the graph.

namespace redco::nn::detail::overlapped {

using node = torch::autograd::AutogradContext;
using gradients_of_node = torch::autograd::variable_list;

/// The communication settings that an autograd node saves for backward: the group of shards, the
/// lane (communication thread), and `by_tokens`. `by_tokens` is true if each rank holds only its
/// own tokens.
struct exchange final : torch::CustomClassHolder {
  exchange(comm::group& ranks, comm::lane& shard_lane, bool split)
      : shards(ranks), lane(shard_lane), by_tokens(split) {}

  void keep_in(node& ctx) const {
    ctx.saved_data["exchange"] = c10::IValue::make_capsule(c10::make_intrusive<exchange>(shards, lane, by_tokens));
  }
  static exchange const& of(node& ctx) {
    return *static_cast<exchange const*>(ctx.saved_data.at("exchange").toCapsule().get());
  }

  comm::group& shards;
  comm::lane& lane;
  bool by_tokens;
};

inline at::Tensor as_rows(at::Tensor const& x) { return x.contiguous().view({-1, x.size(-1)}); }
inline at::Tensor as_examples(at::Tensor const& x) { return x.contiguous().view({-1, x.size(-2), x.size(-1)}); }

inline std::vector<std::int64_t> with_features(at::Tensor const& x, std::int64_t features) {
  auto sizes = x.sizes().vec();
  sizes.back() = features;
  return sizes;
}

/// An all-gather of examples [B, T / shards, features] into [B, T, features] that runs on a lane
/// (communication thread), one chunk of examples after another. T must be a multiple of the number
/// of shards.
class joined_tokens {
 public:
  /// Starts to gather the shards' tensors `own` into `whole` [B, T, features]. Returns before the
  /// data arrive.
  joined_tokens(at::Tensor const& own, at::Tensor const& whole, exchange const& over)
      : cut(whole.size(0), 1, whole.size(1), whole.size(2) * whole.element_size(), over.lane.min_bytes), over_(over) {
    comm::collective_label const label("all_gather_entered");
    cut.for_each([&](std::int64_t first, std::int64_t many) {
      last_ = over_.lane.request([from = own.narrow(0, first, many), to = whole.narrow(0, first, many)](
                                     comm::group& ranks) { to.copy_(ranks.all_gather(from, -2)); });
    });
  }

  /// Waits for the chunks of gathered examples in order. Calls f(first, count) for each chunk as
  /// soon as its examples [first, first + count) have arrived.
  template <class F>
  void for_each(F const& f) {
    std::uint64_t next = last_ - static_cast<std::uint64_t>(cut.count());
    cut.for_each([&](std::int64_t first, std::int64_t many) {
      over_.lane.wait(++next);
      f(first, many);
    });
    over_.lane.wait();
    over_.shards.count_as_one(shape::collective::all_gather, cut.count());
  }

  shape::product_runs const cut;

 private:
  exchange const& over_;
  std::uint64_t last_ = 0;
};

/// A set of sums over the shards that are in flight on a lane (communication thread). wait()
/// returns the sums when they are complete.
struct sums_under_way {
  at::Tensor sums;
  std::int64_t calls;
  exchange const& over;

  at::Tensor const& wait() const {
    over.lane.wait();
    over.shards.count_as_one(over.by_tokens ? shape::collective::reduce_scatter : shape::collective::all_reduce, calls);
    return sums;
  }
};

/// Starts to sum a tensor of these sizes over the shards, in chunks of rows. Calls make(y, first,
/// count), which must write rows [first, first + count) of the tensor into y, for one chunk while
/// it sums the chunk before. The result on each rank has all rows, or only the rank's own tokens if
/// `over.by_tokens` is true.
template <class Make>
sums_under_way sums_of_rows(std::vector<std::int64_t> sizes, at::TensorOptions const& options, exchange const& over,
                            Make const& make) {
  constexpr std::int64_t rows_of_cache_lines = 16;
  std::int64_t& tokens_of_one = sizes[sizes.size() - 2];
  std::int64_t const features = sizes.back(), rows = c10::multiply_integers(sizes) / features,
                     tokens = over.by_tokens ? tokens_of_one : 1;
  comm::collective_label const label(over.by_tokens ? "reduce_scatter" : "reduce");
  if (over.by_tokens) tokens_of_one /= over.shards.size();
  at::Tensor const sums = at::empty(sizes, options);
  at::Tensor const result = sums.view({rows / tokens, -1, features});
  shape::product_runs const cut(rows / tokens, over.by_tokens ? 1 : over.shards.size() * rows_of_cache_lines, tokens,
                                features * sums.element_size(), over.lane.min_bytes);
  cut.for_each([&](std::int64_t first, std::int64_t many) {
    at::Tensor const to = result.narrow(0, first, many);
    at::Tensor const part = over.by_tokens ? at::empty({many, tokens, features}, options) : to;
    make(part.view({-1, features}), first * tokens, many * tokens);
    if (over.by_tokens) over.lane.request([part, to](comm::group& ranks) { to.copy_(ranks.reduce_scatter(part, -2)); });
    else over.lane.all_reduce(part);
  });
  return {sums, cut.count(), over};
}

}  // namespace redco::nn::detail::overlapped
