#pragma once

#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// The flat buffers of the parameters of some equal blocks, or of the layers outside blocks, in a
/// run whose replicas keep shares (ZeRO).
struct shared_part {
  /// Index of the first of these blocks, counted over all outermost `repeat`s; -1: outside blocks
  std::int64_t first = -1;
  std::int64_t step = 1;    ///< Difference of the indices of two consecutive ones of these blocks
  std::int64_t blocks = 1;  ///< Number of these blocks; 1 outside blocks
  shard::regions regions;   ///< Regions of one of the blocks, in elements, with padding
  std::vector<shard::shared_range> shares;
  /// True if the first range of a region may have parameters that belong wholly to one replica each
  bool has_owners = false;

  constexpr std::int64_t last() const { return first + (blocks - 1) * step; }
  constexpr bool is_trained(shard::shared_range const& one) const { return one.begin < trained(); }
  constexpr std::int64_t size() const { return regions.size(); }
  constexpr std::int64_t trained() const { return regions.trained(); }

  /// `kept` returns the number of elements of one block that the first rank keeps; no rank keeps
  /// more. `kept_trained` counts trained elements only.
  constexpr std::int64_t kept() const {
    std::int64_t sum = 0;
    for (shard::shared_range const& one : shares) sum += one.share();
    return sum;
  }
  constexpr std::int64_t kept_trained() const {
    std::int64_t sum = 0;
    for (shard::shared_range const& one : shares) sum += is_trained(one) ? one.share() : 0;
    return sum;
  }

  /// Returns an upper bound of the elements of the ranges that wait for their sum during backward,
  /// which computes gradients from the last parameter to the first. In each region, one range is
  /// filled at a time, besides that of parameters with owners. A range with elements of several
  /// regions waits for all of them.
  constexpr std::int64_t most_waiting() const {
    std::int64_t all = 0;
    auto const is_in = [](shard::shared_range const& one, shard::region const& region) {
      return region.begin <= one.begin && one.end <= region.end;
    };
    for (shard::region const& region : regions) {
      std::int64_t most = 0;
      for (shard::shared_range const& one : shares) {
        if (!is_trained(one) || !is_in(one, region)) continue;
        if (has_owners && one.begin == region.begin) all += one.size();
        else most = std::max(most, one.size());
      }
      all += most;
    }
    for (shard::shared_range const& one : shares)
      if (std::none_of(regions.begin(), regions.end(), [&](shard::region const& r) { return is_in(one, r); }))
        all += one.size();
    return all;
  }
};

}  // namespace redco::cost::detail
