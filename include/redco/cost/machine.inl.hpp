#pragma once

#include <redco/cost/machine.hpp>

#include <redco/config.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace redco::cost::detail {

/// Returns the element of `speeds` whose members `first` and `second` are nearest to `a` and `b` on
/// a log scale. Compares `first` before `second`. Returns null for an empty list.
template <class Speed>
Speed const* nearest(std::vector<Speed> const& speeds, int Speed::*first, int Speed::*second, int a, int b) {
  Speed const* best = nullptr;
  auto const distance = [&](Speed const& one) {
    auto const apart = [](int x, int y) { return std::abs(std::log2(static_cast<double>(x) / y)); };
    return std::pair(apart(one.*first, a), apart(one.*second, b));
  };
  for (Speed const& one : speeds)
    if (!best || distance(one) < distance(*best)) best = &one;
  return best;
}

}  // namespace redco::cost::detail

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
  group_speed const* const best = detail::nearest(groups, &group_speed::group, &group_speed::ranks, group, ranks);
  if (!best)
    throw error(exit_code::data, "no all-reduce of the machine was measured; run redco-plan --calibrate again");
  return *best;
}

REDCO_INLINE host_link const& machine::link_of(int hosts, int of) const {
  host_link const* const best = detail::nearest(links, &host_link::hosts, &host_link::of, hosts, of);
  if (!best)
    throw error(exit_code::data, "no link between hosts was measured; run mpirun -n " + std::to_string(of) +
                                     " redco-plan --calibrate, a process on each of them");
  return *best;
}

}  // namespace redco::cost
