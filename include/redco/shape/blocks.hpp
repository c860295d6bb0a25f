#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

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

namespace redco {

/// A choice of the blocks of a `repeat` that save only their input in forward and are recomputed in
/// backward. Choices are none, all, every k-th (torchtitan's selective activation checkpointing),
/// the first n (Megatron-LM's `--recompute-method block`), and a range.
///
/// Each outermost `repeat` counts its blocks from 0, also on a rank that has only some of them. A
/// `repeat` nested in a block is recomputed as a whole, with that block.
struct recomputed_blocks {
  /// Distance between recomputed blocks of `range`: 1 recomputes all of them, 2 the second, fourth
  /// and so on, 0 none.
  std::int64_t every = 0;
  shape::block_range range = {};  ///< Range of blocks; may end after the last block of a `repeat`

  constexpr recomputed_blocks() = default;
  /// Recomputes all blocks if `all` is true, none otherwise. Accepts only a bool.
  template <class Bool>
    requires std::is_same_v<Bool, bool>
  constexpr recomputed_blocks(Bool all) : every(all ? 1 : 0) {}

  static constexpr recomputed_blocks every_kth(std::int64_t k) { return {k, {}}; }
  /// Returns the choice of the first `n` blocks; none if `n` is 0. Throws `error` with exit code 64
  /// if `n` is negative.
  static constexpr recomputed_blocks first_n(std::int64_t n) { return n == 0 ? recomputed_blocks() : in_range({0, n}); }
  /// Returns the choice of the blocks in a range. Throws `error` with exit code 64 if it is empty.
  static constexpr recomputed_blocks in_range(shape::block_range const& blocks) {
    if (blocks.begin >= 0 && !blocks.is_empty()) return {1, blocks};
    throw error(exit_code::usage, "[" + std::to_string(blocks.begin) + ", " + std::to_string(blocks.end) +
                                      ") is no range of blocks to recompute: give a begin from 0 on and a larger end");
  }

  constexpr bool any() const { return every > 0; }
  /// Returns true if the block with index `block` (from 0) is recomputed.
  constexpr bool has(std::int64_t block) const {
    return any() && range.has(block) && (block - range.begin + 1) % every == 0;
  }
  /// Returns the number of recomputed blocks among the first `blocks` blocks of a `repeat`.
  constexpr std::int64_t count(std::int64_t blocks) const {
    auto const [begin, end] = range.overlap({0, blocks});
    return any() ? (end - range.begin) / every - (begin - range.begin) / every : 0;
  }
  /// Returns this choice for the blocks from index `first` on, with `first` as their index 0.
  constexpr recomputed_blocks from(std::int64_t first) const {
    return {every, {range.begin - first, range.end < shape::block_range::no_end ? range.end - first : range.end}};
  }

  friend constexpr bool operator==(recomputed_blocks const&, recomputed_blocks const&) = default;

 private:
  constexpr recomputed_blocks(std::int64_t k, shape::block_range const& blocks) : every(k), range(blocks) {}
};

}  // namespace redco
