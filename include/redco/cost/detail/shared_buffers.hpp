#pragma once

#include <redco/cost/setup.hpp>
#include <redco/shard/entry.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>

#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// The flat buffers of a rank in a run whose replicas keep shares (ZeRO).
struct shared_buffers {
  shard::regions regions;                   ///< in elements, with padding
  std::vector<shard::shared_range> shares;  ///< empty if each replica keeps all

  template <class Parameters>
  constexpr shared_buffers(Parameters const& parameters, setup const& s) {
    if (shape::zero{s.zero}.on(s.mesh).level == 0) return;
    for (fact::parameter_fact const& fact : parameters) {
      shard::entry const e{fact, s.mesh};
      regions.add(shard::region_of(e, fact.trained), e.local().count() * fact.copies());
    }
    regions = shard::padded_for_shares(regions, s.mesh);
    shares = shard::shares_of(regions, s.mesh, s.gradient_bucket / shape::size_of(s.compute));
  }

  /// Returns the number of elements that the first rank keeps; no rank keeps more.
  constexpr std::int64_t kept() const {
    std::int64_t sum = 0;
    for (shard::shared_range const& one : shares) sum += one.share();
    return sum;
  }

  /// Returns the largest number of elements of a share.
  constexpr std::int64_t largest_share() const {
    std::int64_t most = 0;
    for (shard::shared_range const& one : shares) most = most < one.share() ? one.share() : most;
    return most;
  }
};

}  // namespace redco::cost::detail
