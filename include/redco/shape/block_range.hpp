#pragma once

#include <cstdint>
#include <limits>

namespace redco::shape {

/// A range [begin, end) of a model's blocks, which one pipeline stage runs; by default all blocks.
/// Blocks are numbered from 0 in the order in which the model runs them, over all outermost
/// `repeat`s.
struct block_range {
  static constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = 0, end = no_end;

  constexpr bool has(std::int64_t block) const { return begin <= block && block < end; }
  constexpr bool is_empty() const { return begin >= end; }
  /// Returns the blocks of this range that are also in `other`. If there are none, returns an empty
  /// range whose ends are inside `other`. Requires other.begin <= other.end.
  constexpr block_range overlap(block_range const& other) const {
    auto const within = [&](std::int64_t block) {
      return block < other.begin ? other.begin : block < other.end ? block : other.end;
    };
    return {within(begin), within(end)};
  }

  friend constexpr bool operator==(block_range const&, block_range const&) = default;
};

}  // namespace redco::shape
