#pragma once

#include <redco/cost/machine.hpp>

#include <redco/config.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace redco::cost {

REDCO_INLINE compute_speed const& machine::speed_of(dtype compute_in, int ranks) const {
  compute_speed const* best = nullptr;
  for (compute_speed const& one : compute) {
    if (one.compute != compute_in) continue;
    bool const within = one.ranks <= ranks, best_within = best && best->ranks <= ranks;
    if (!best || (within ? !best_within || one.ranks > best->ranks : !best_within && one.ranks < best->ranks))
      best = &one;
  }
  if (!best)
    throw error(exit_code::data, "the machine's speed in " + std::string(name_of(compute_in)) +
                                     " was not measured; run redco-plan --calibrate again");
  return *best;
}

REDCO_INLINE group_speed const& machine::group_of(int group, int ranks) const {
  group_speed const* best = nullptr;
  auto const distance = [&](group_speed const& one) {
    auto const apart = [](int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); };
    return std::pair(apart(one.group, group), apart(one.ranks, ranks));
  };
  for (group_speed const& one : groups)
    if (!best || distance(one) < distance(*best)) best = &one;
  if (!best)
    throw error(exit_code::data, "no all-reduce of the machine was measured; run redco-plan --calibrate again");
  return *best;
}

}  // namespace redco::cost
