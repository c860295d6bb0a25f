#pragma once

#include <redco/run/gradient_buckets.hpp>

#include <redco/nn/parameter_store.hpp>
#include <redco/comm/group.hpp>
#include <redco/shard/shares.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/pieces.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <numeric>

namespace redco::run {

REDCO_INLINE gradient_buckets::gradient_buckets(nn::network_base const& net, rank_context& rank, std::int64_t bytes)
    : of_parameter_(net.parameters().size()), ended_(net.parameters().size()) {
  nn::parameter_store const& store = net.store();
  at::Tensor const& flat = store.gradients();
  std::int64_t const most = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(flat.element_size()));
  std::vector<bucket> all;
  std::vector<std::int64_t> begins;  // of the buckets in the flat buffer
  auto const add = [&](std::int64_t begin, std::int64_t end, shape::axes over, bool is_shared) {
    comm::lane* const lane = &rank.lane(over);
    if (std::find(lanes_.begin(), lanes_.end(), lane) == lanes_.end()) lanes_.push_back(lane);
    begins.push_back(begin);
    all.push_back({flat.narrow(0, begin, end - begin), lane, is_shared, -1, 0});
  };
  for (shard::shared_range const& one : store.shares()) add(one.begin, one.end, one.over, true);
  for (shard::region const& one : store.regions()) {
    if (!one.trained || !store.shares().empty()) continue;
    shape::buckets const cut{one.size(), most};
    for (std::int64_t i = 0; i < cut.count(); ++i)
      add(one.begin + cut.begin(i), one.begin + cut.end(i), one.summed_over, false);
  }
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    at::Tensor const& leaf = net.parameters()[i];
    if (!leaf.requires_grad() || leaf.numel() == 0) continue;
    std::int64_t const begin = leaf.storage_offset() - store.values().storage_offset();
    auto const bucket_of = [&](std::int64_t element) {
      return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), element) - begins.begin()) - 1;
    };
    for (std::size_t b = bucket_of(begin); b <= bucket_of(begin + leaf.numel() - 1); ++b) {
      if (all[b].awaited++ == 0) all[b].first = static_cast<std::int32_t>(i);
      of_parameter_[i].push_back(b);
    }
  }
  std::vector<std::size_t> by_first(all.size());
  std::iota(by_first.begin(), by_first.end(), std::size_t{0});
  std::stable_sort(by_first.begin(), by_first.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].first > all[b].first; });
  std::vector<std::size_t> order_index(all.size());
  for (std::size_t const b : by_first) {
    order_index[b] = order_.size();
    order_.push_back(all[b]);
  }
  for (bucket_indices& some : of_parameter_)
    for (std::size_t& b : some) b = order_index[b];
}

REDCO_INLINE void gradient_buckets::end(parameter which) {
  auto const at = static_cast<std::size_t>(which.index);
  if (ended_[at])
    throw error(
        exit_code::internal,
        "backward ends a gradient twice, so that it cannot be sent to the other ranks meanwhile: give --no-overlap");
  ended_[at] = true;
  for (std::size_t const b : of_parameter_[at]) --order_[b].awaited;
  while (sent_ < order_.size() && order_[sent_].awaited == 0) send_next();
}

REDCO_INLINE void gradient_buckets::send_next() {
  comm::collective_label const label("gradients");
  bucket const& next = order_[sent_++];
  if (!next.is_shared) next.lane->all_reduce(next.part);
  else next.lane->request([part = next.part](comm::group& ranks) { ranks.reduce_scatter_in_place(part); });
}

}  // namespace redco::run
