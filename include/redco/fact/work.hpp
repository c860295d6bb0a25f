#pragma once

#include <redco/shape/saturating.hpp>

#include <cstdint>

namespace redco::fact {

/// The floating-point operations of matrix products in one forward pass, two per multiplication,
/// over all shards. Attention counts all pairs of a query and a key, masked or not; in a sliding
/// window, the window's keys per query.
struct work {
  std::int64_t all = 0;
  std::int64_t again = 0;  ///< Part of `all` in blocks that run again in backward
  /// Parts of `all` in products with trained weights: those cut by columns, after a value enters,
  /// and those cut by rows, before a sum.
  std::int64_t columns = 0, rows = 0;

  constexpr void add(std::int64_t operations, std::int64_t of_those_again) {
    all = saturating_add(all, operations);
    again = saturating_add(again, of_those_again);
  }

  friend constexpr bool operator==(work const&, work const&) = default;
};

}  // namespace redco::fact
