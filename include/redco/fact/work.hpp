#pragma once

#include <redco/shape/saturating.hpp>

#include <cstdint>

namespace redco {

/// Floating-point operations of matrix products in one forward pass, two for each multiplication, over all shards.
/// Attention counts all pairs of a query and a key, masked or not; in a sliding window as many keys for each query as it holds.
struct work {
  std::int64_t all = 0;
  std::int64_t in_blocks = 0;  ///< of those, inside a `repeat`: recomputation runs them again

  constexpr void add(std::int64_t operations, bool in_block) {
    all = saturating_add(all, operations);
    if (in_block) in_blocks = saturating_add(in_blocks, operations);
  }

  friend constexpr bool operator==(work const&, work const&) = default;
};

}  // namespace redco
