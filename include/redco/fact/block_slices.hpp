#pragma once

#include <redco/fact/block_slice.hpp>
#include <redco/shape/saturating.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::fact {

/// The slices of blocks in which something stands, those of the outermost `repeat` first; at most six.
struct block_slices {
  std::array<block_slice, 6> slices{};
  std::size_t depth = 0;

  constexpr void push(block_slice one) { slices.at(depth++) = one; }
  constexpr block_slice const& operator[](std::size_t level) const { return slices[level]; }

  /// The blocks of all levels together, at most `saturated`; 1 outside of any.
  constexpr std::int64_t count() const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < depth; ++i) product = saturating_multiply(product, slices[i].count());
    return product;
  }

  friend constexpr bool operator==(block_slices const&, block_slices const&) = default;
};

}  // namespace redco::fact
