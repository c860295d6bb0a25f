#pragma once

#include <redco/run/gradient_shares.hpp>

#include <redco/run/bucket_order.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/joint_calls.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::run {

REDCO_INLINE comm::group& sharing_ranks(nn::parameter_store const& store, rank_context& rank) {
  shape::axes over;
  for (shard::shared_range const& one : store.shares()) over = over | one.over;
  return rank.group(over);
}

REDCO_INLINE gradient_shares::gradient_shares(nn::network_base const& net, rank_context& rank)
    : net_(net), rank_(rank), ended_(net.parameters().size()) {
  nn::parameter_store const& store = net.store();
  std::vector<bucket> all;
  std::vector<std::int64_t> begins;  // of the buckets in the flat buffers
  for (shard::shared_range const& range : store.shares()) {
    if (range.begin >= store.regions().trained()) break;
    bucket one;
    one.range = range;
    if (store.shares_values()) one.block = store.regions().begin()[store.regions().index_at(range.begin)].block;
    blocks_ = std::max(blocks_, one.block + 1);
    detail::packed_share const kept = detail::packed_share_of(store, range);
    one.packed = kept.begin;
    one.elements = kept.elements;
    begins.push_back(range.begin);
    all.push_back(std::move(one));
  }
  detail::bucket_order order = detail::order_of_buckets(net, begins);
  for (std::size_t const b : order.sums) {
    all[b].awaited = all[b].parameters = order.parameters[order_.size()];
    order_.push_back(std::move(all[b]));
  }
  of_parameter_ = std::move(order.of_parameter);
  allowed_ = before(blocks_ - 1);
}

REDCO_INLINE void gradient_shares::end(parameter which) {
  auto const at = static_cast<std::size_t>(which.index);
  if (ended_[at]) throw error(exit_code::internal, "backward ends a gradient twice, and its sum is complete already");
  ended_[at] = true;
  at::NoGradGuard const no_grad;
  at::Tensor const& leaf = net_.parameters()[at];
  at::Tensor const gradient = std::exchange(leaf.mutable_grad(), {}).reshape({-1});
  std::int64_t const begin = net_.store().first_element(leaf);
  for (std::size_t const b : of_parameter_[at]) {
    bucket& one = order_[b];
    if (b < summed_)
      throw error(exit_code::internal,
                  "--zero 3: backward of a block adds to a gradient whose sum is complete, because the loss reads "
                  "the block's output in another way than through the network; give --zero 2");
    std::int64_t const from = std::max(begin, one.range.begin), to = std::min(begin + leaf.numel(), one.range.end);
    memory_of(one, gradient)
        .narrow(0, from - one.range.begin, to - from)
        .copy_(gradient.narrow(0, from - begin, to - from));
    --one.awaited;
    while (summed_ < allowed_ && order_[summed_].awaited == 0) sum_next();
  }
}

REDCO_INLINE void gradient_shares::begin_backward(std::int64_t block) {
  for (std::size_t const end = before(block); summed_ < end;) sum_next();
  allowed_ = before(block - 1);
}

/// Returns the number of buckets that are summed before backward of `block` begins; all for -1.
REDCO_INLINE std::size_t gradient_shares::before(std::int64_t block) const {
  std::size_t after = 0;
  for (std::size_t i = 0; i < order_.size() && block >= 0; ++i) {
    if (order_[i].block > block) after = i + 1;
    else if (order_[i].block >= 0) return i;
  }
  return block >= 0 ? after : order_.size();
}

REDCO_INLINE void gradient_shares::end_round() {
  while (summed_ < order_.size()) sum_next();
  summed_ = 0;
  allowed_ = before(blocks_ - 1);
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
  nn::parameter_store const& store = net_.store();
  bucket& one = order_[summed_++];
  last_.wait();
  last_ = start(rank_, one.range.over, store.zero().overlaps,
                [gradients = memory_of(one, store.gradients()),
                 kept = store.gradients().narrow(0, one.packed, one.elements)](comm::group& ranks) {
                  at::NoGradGuard const no_grad;
                  at::Tensor(kept).add_(ranks.reduce_scatter(gradients, 0).narrow(0, 0, kept.numel()));
                });
  one.gradients = at::Tensor();
}

REDCO_INLINE void gradient_shares::announce() {
  comm::announced(sharing_ranks(net_.store(), rank_), comm::joint_call::backward);
}

REDCO_INLINE void gradient_shares::join() {
  comm::group& ranks = sharing_ranks(net_.store(), rank_);
  while (comm::announced(ranks, comm::joint_call::none) != comm::joint_call::none) end_round();
}

REDCO_INLINE void gradient_shares::wait() {
  for (shard::shared_range const& one : net_.store().shares())
    if (net_.store().zero().overlaps) rank_.lane(one.over).wait();
}

}  // namespace redco::run
