#pragma once

#include <redco/run/gradient_shares.hpp>

#include <redco/nn/parameter_store.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::run {

REDCO_INLINE gradient_shares::gradient_shares(nn::network_base const& net, rank_context& rank)
    : net_(net), rank_(rank), of_parameter_(net.parameters().size()), ended_(net.parameters().size()) {
  nn::parameter_store const& store = net.store();
  for (shard::shared_range const& range : store.shares()) {
    bucket one{range, 0, 0, -1, 0, 0, {}};
    std::int64_t const begin = range.share_begin(rank.coordinate(range.over)), end = begin + range.share();
    for (nn::parameter_store::kept_range const& kept : store.kept()) {
      if (kept.begin < begin || kept.end > end) continue;
      if (one.elements == 0) one.packed = kept.packed;
      one.elements += kept.end - kept.begin;
    }
    order_.push_back(std::move(one));
  }
  auto const begin_of = [&](at::Tensor const& leaf) { return leaf.storage_offset() - store.values().storage_offset(); };
  auto const overlaps = [&](bucket const& one, at::Tensor const& leaf) {
    std::int64_t const begin = begin_of(leaf), end = begin + leaf.numel();
    return leaf.requires_grad() && leaf.numel() > 0 && begin < one.range.end && one.range.begin < end;
  };
  for (bucket& one : order_)
    for (std::size_t i = 0; i < net.parameters().size(); ++i)
      if (overlaps(one, net.parameters()[i]) && one.parameters++ == 0) one.first = static_cast<std::int32_t>(i);
  // Backward completes the last bucket of a parameter first, because the next parameters end there.
  std::reverse(order_.begin(), order_.end());
  std::stable_sort(order_.begin(), order_.end(), [](bucket const& a, bucket const& b) { return a.first > b.first; });
  for (std::size_t b = 0; b < order_.size(); ++b) {
    order_[b].awaited = order_[b].parameters;
    for (std::size_t i = 0; i < net.parameters().size(); ++i)
      if (overlaps(order_[b], net.parameters()[i])) of_parameter_[i].push_back(b);
  }
}

REDCO_INLINE void gradient_shares::end(parameter which) {
  auto const at = static_cast<std::size_t>(which.index);
  if (ended_[at]) throw error(exit_code::internal, "backward ends a gradient twice, and its sum is complete already");
  ended_[at] = true;
  at::NoGradGuard const no_grad;
  at::Tensor const& leaf = net_.parameters()[at];
  at::Tensor const gradient = std::exchange(leaf.mutable_grad(), {}).reshape({-1});
  std::int64_t const begin = leaf.storage_offset() - net_.store().values().storage_offset();
  for (std::size_t const b : of_parameter_[at]) {
    bucket& one = order_[b];
    std::int64_t const from = std::max(begin, one.range.begin), to = std::min(begin + leaf.numel(), one.range.end);
    memory_of(one, gradient)
        .narrow(0, from - one.range.begin, to - from)
        .copy_(gradient.narrow(0, from - begin, to - from));
    --one.awaited;
    while (summed_ < order_.size() && order_[summed_].awaited == 0) sum_next();
  }
}

REDCO_INLINE void gradient_shares::end_round() {
  while (summed_ < order_.size()) sum_next();
  summed_ = 0;
  for (bucket& one : order_) one.awaited = one.parameters;
  std::fill(ended_.begin(), ended_.end(), false);
}

/// Returns the memory of a bucket, which is zero before its first gradient.
REDCO_INLINE at::Tensor const& gradient_shares::memory_of(bucket& one, at::Tensor const& like) {
  if (!one.gradients.defined()) one.gradients = at::zeros({one.range.size()}, like.options());
  return one.gradients;
}

REDCO_INLINE void gradient_shares::sum_next() {
  comm::collective_label const label("gradients");
  at::NoGradGuard const no_grad;
  bucket& one = order_[summed_++];
  at::Tensor const& kept = net_.store().gradients();
  at::Tensor const sum = rank_.group(one.range.over).reduce_scatter(memory_of(one, kept), 0);
  kept.narrow(0, one.packed, one.elements).add_(sum.narrow(0, 0, one.elements));
  one.gradients = at::Tensor();
}

}  // namespace redco::run
