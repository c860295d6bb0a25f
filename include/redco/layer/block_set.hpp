#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::layers {

/// A set of blocks of a model, by index from 0 to 127.
struct block_set {
  static constexpr std::int64_t capacity = 128;
  std::array<std::uint64_t, 2> bits = {};

  constexpr bool has(std::int64_t block) const {
    return block >= 0 && block < capacity && ((bits[static_cast<std::size_t>(block / 64)] >> (block % 64)) & 1) != 0;
  }
  constexpr void add(std::int64_t block) {
    bits[static_cast<std::size_t>(block / 64)] |= std::uint64_t{1} << (block % 64);
  }
  friend constexpr bool operator==(block_set const&, block_set const&) = default;
};

/// Returns the blocks period - 1, 2 period - 1, 3 period - 1 and so on: the last of each `period`
/// blocks.
constexpr block_set every_block(std::int64_t period) {
  block_set all;
  for (std::int64_t i = period - 1; i < block_set::capacity; i += period) all.add(i);
  return all;
}

}  // namespace redco::layers
