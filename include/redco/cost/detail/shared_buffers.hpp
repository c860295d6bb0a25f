#pragma once

#include <redco/cost/setup.hpp>
#include <redco/shard/entry.hpp>
#include <redco/shard/owners.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::cost::detail {

/// The flat buffers of a rank in a run whose replicas keep shares (ZeRO).
struct shared_buffers {
  shard::regions regions;                   ///< in elements, with padding
  std::vector<shard::shared_range> shares;  ///< empty if each replica keeps all
  /// True if each backward sums its gradients, and a rank keeps only its share of them
  bool sums_in_backward = false;
  /// Places of the copies of each parameter, and elements that each replica keeps of each range, if
  /// matrices belong wholly to replicas; otherwise empty
  std::vector<std::vector<shard::owned_layout::place>> places;
  std::vector<std::vector<std::int64_t>> kept_elements;

  template <class Parameters>
  constexpr shared_buffers(Parameters const& parameters, optimizer::demands const& demands, setup const& s) {
    shape::zero const zero = shape::zero{s.zero, s.gradient_bucket, s.zero_owner, demands.factors}.on(s.mesh);
    sums_in_backward = zero.sums_in_backward();
    if (zero.level == 0) return;
    if (zero.owner == shape::zero_owner::whole) {
      std::vector<shard::owned_parameter> all;
      for (fact::parameter_fact const& fact : parameters) {
        all.push_back(shard::owned_parameter_of(fact, s.mesh, fact.trained, zero));
        all.back().copies = fact.copies();
      }
      shard::owned_layout layout(all, s.mesh);
      regions = layout.regions;
      shares = std::move(layout.shares);
      places = std::move(layout.places);
      kept_elements = std::move(layout.kept);
      return;
    }
    for (fact::parameter_fact const& fact : parameters) {
      shard::entry const e{fact, s.mesh};
      regions.add(shard::region_of(e, fact.trained), e.local().count() * fact.copies());
    }
    regions = shard::padded_for_shares(regions, s.mesh);
    shares = shard::shares_of(regions, s.mesh, zero.bytes_of_sum() / shape::size_of(s.compute));
  }

  /// Returns the number of elements that the first rank keeps; no rank keeps more.
  constexpr std::int64_t kept() const {
    std::int64_t sum = 0;
    for (shard::shared_range const& one : shares) sum += one.share();
    return sum;
  }

  /// Returns true if copies of the parameter with index `i` belong wholly to replicas.
  constexpr bool is_owned(std::size_t i) const {
    return i < places.size() && !places[i].empty() && places[i].front().owner >= 0;
  }

  /// Returns the number of copies of the parameter with index `i` that the replica with index
  /// `replica` owns, or of all copies if they have no owners. `fact`: the parameter's declaration.
  constexpr std::int64_t copies_of(std::size_t i, fact::parameter_fact const& fact, int replica) const {
    if (!is_owned(i)) return fact.copies();
    return std::count_if(places[i].begin(), places[i].end(), [&](auto const& one) { return one.owner == replica; });
  }

  /// Returns an upper bound of the elements of the ranges that wait for their sum during backward,
  /// which computes gradients from the last parameter to the first. In each region, one range is
  /// filled at a time. A range with elements of several regions waits for all of them.
  constexpr std::int64_t most_waiting() const {
    std::int64_t all = 0;
    auto const is_in = [](shard::shared_range const& one, shard::region const& region) {
      return region.begin <= one.begin && one.end <= region.end;
    };
    for (shard::region const& region : regions) {
      std::int64_t most = 0;
      for (shard::shared_range const& one : shares)
        if (is_in(one, region)) most = std::max(most, one.size());
      all += most;
    }
    for (shard::shared_range const& one : shares)
      if (std::none_of(regions.begin(), regions.end(), [&](shard::region const& r) { return is_in(one, r); }))
        all += one.size();
    return all;
  }

  /// Returns the largest number of elements of a share.
  constexpr std::int64_t largest_share() const {
    std::int64_t most = 0;
    for (shard::shared_range const& one : shares) most = most < one.share() ? one.share() : most;
    return most;
  }
};

}  // namespace redco::cost::detail
