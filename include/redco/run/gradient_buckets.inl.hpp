#pragma once

#include <redco/run/gradient_buckets.hpp>

#include <redco/run/bucket_order.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/comm/group.hpp>
#include <redco/shard/shares.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/pieces.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::run {

REDCO_INLINE gradient_buckets::gradient_buckets(nn::network_base const& net, rank_context& rank, std::int64_t bytes)
    : ended_(net.parameters().size()) {
  nn::parameter_store const& store = net.store();
  at::Tensor const& flat = store.gradients();
  std::int64_t const most = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(flat.element_size()));
  std::vector<bucket> all;
  std::vector<std::int64_t> begins;  // of the buckets in the flat buffer
  auto const add = [&](std::int64_t begin, std::int64_t end, shape::axes over, bool is_shared) {
    comm::lane* const lane = &rank.lane(over);
    if (std::find(lanes_.begin(), lanes_.end(), lane) == lanes_.end()) lanes_.push_back(lane);
    begins.push_back(begin);
    all.push_back({flat.narrow(0, begin, end - begin), lane, is_shared, 0});
  };
  for (shard::shared_range const& one : store.shares()) add(one.begin, one.end, one.over, true);
  for (shard::region const& one : store.regions()) {
    if (!one.trained || !store.shares().empty()) continue;
    shape::buckets const cut{one.size(), most};
    for (std::int64_t i = 0; i < cut.count(); ++i)
      add(one.begin + cut.begin(i), one.begin + cut.end(i), one.summed_over, false);
  }
  detail::bucket_order order = detail::order_of_buckets(net, begins);
  for (std::size_t const b : order.sums) {
    all[b].awaited = order.parameters[order_.size()];
    order_.push_back(std::move(all[b]));
  }
  of_parameter_ = std::move(order.of_parameter);
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
