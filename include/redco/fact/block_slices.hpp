#pragma once

#include <redco/fact/block_slice.hpp>
#include <redco/shape/saturating.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::fact {

/// A list of the nested `repeat`s that enclose a parameter or layer, the outermost first. Each
/// entry is the slice (set of equal blocks) that contains the parameter or layer. There are at most
/// `capacity` entries.
struct block_slices {
  static constexpr std::size_t capacity = 6;

  std::array<block_slice, capacity> slices{};
  std::size_t depth = 0;

  /// Pushes the slice of a further nested `repeat`. Returns false and pushes nothing if the stack
  /// is full.
  [[nodiscard]] constexpr bool push(block_slice one) {
    if (depth == capacity) return false;
    slices[depth++] = one;
    return true;
  }
  constexpr block_slice const& operator[](std::size_t level) const { return slices[level]; }

  /// Returns the number of repetitions: the product of the block counts of all nested repeats. The
  /// result is 1 outside all repeats and at most `saturated`.
  constexpr std::int64_t count() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < depth; ++i) product = shape::saturating_multiply(product, slices[i].count());
    return product;
  }

  friend constexpr bool operator==(block_slices const&, block_slices const&) = default;
};

}  // namespace redco::fact
