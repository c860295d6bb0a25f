#pragma once

#include <redco/shape/saturating.hpp>

#include <cstdint>

namespace redco::fact {

/// Floating-point operations of matrix products in one forward pass, two for each multiplication, over all shards.
/// Attention counts all pairs of a query and a key, masked or not; in a sliding window as many keys for each query as it holds.
struct work {
  std::int64_t all = 0;
  std::int64_t again = 0;  ///< of those, in blocks that run again in backward
  /// Of all, those with trained weights that are cut by columns, behind what enters, and by rows, before a sum.
  std::int64_t columns = 0, rows = 0;

  constexpr void add(std::int64_t operations, std::int64_t of_those_again) {
    all = saturating_add(all, operations);
    again = saturating_add(again, of_those_again);
  }

  friend constexpr bool operator==(work const&, work const&) = default;
};

}  // namespace redco::fact
