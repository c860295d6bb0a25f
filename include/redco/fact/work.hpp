#pragma once

#include <redco/shape/bytes.hpp>

#include <cstdint>

namespace redco::fact {

/// The floating-point operations of matrix products in one forward pass, summed over all
/// tensor-parallel ranks; a multiply-add is two. Attention counts all pairs of query and key, even
/// masked ones. In a sliding window it counts the window's keys for each query.
struct work {
  std::int64_t all = 0;
  /// Operations in recomputed blocks, which run again in backward; included in `all`
  std::int64_t again = 0;
  /// Operations of products with trained weights, included in `all`: `columns` with column-parallel
  /// weights, `rows` with row-parallel ones.
  std::int64_t columns = 0, rows = 0;

  constexpr void add(std::int64_t operations, std::int64_t of_those_again) {
    all = shape::saturating_add(all, operations);
    again = shape::saturating_add(again, of_those_again);
  }

  friend constexpr bool operator==(work const&, work const&) = default;
};

}  // namespace redco::fact
