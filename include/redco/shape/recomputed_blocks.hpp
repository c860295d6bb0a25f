#pragma once

#include <redco/shape/block_range.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace redco {

/// A choice of the blocks of a `repeat` that save only their input in forward and run again in
/// backward. Choices are none, all, every k-th (torchtitan's selective activation checkpointing),
/// or the first n (Megatron-LM's `--recompute-method block`). A `repeat` nested in a block runs
/// again as a whole, with that block.
struct recomputed_blocks {
  std::int64_t every = 0;  ///< 1: each block of `range`; 2: its second, fourth and so on; 0: none
  block_range range = {};  ///< may end after the last block of a `repeat`

  constexpr recomputed_blocks() = default;
  /// Chooses all blocks (true) or none (false).
  template <class Bool>
    requires std::is_same_v<Bool, bool>
  constexpr recomputed_blocks(Bool all) : every(all ? 1 : 0) {}

  static constexpr recomputed_blocks every_kth(std::int64_t k) { return {k, {}}; }
  /// The first `n` blocks; none if `n` is 0.
  static constexpr recomputed_blocks first_n(std::int64_t n) { return n == 0 ? recomputed_blocks() : in_range({0, n}); }
  /// Blocks [begin, end). Errors: exit code 64 for a range without blocks.
  static constexpr recomputed_blocks in_range(block_range const& blocks) {
    if (blocks.begin >= 0 && blocks.begin < blocks.end) return {1, blocks};
    throw error(exit_code::usage, "[" + std::to_string(blocks.begin) + ", " + std::to_string(blocks.end) +
                                      ") is no range of blocks to recompute: give a begin from 0 on and a larger end");
  }

  constexpr bool any() const { return every > 0; }
  /// Returns true if block `block` of a `repeat`, counted from 0, runs again.
  constexpr bool has(std::int64_t block) const {
    return any() && range.has(block) && (block - range.begin + 1) % every == 0;
  }
  /// Returns the number of blocks that run again among the first `blocks` of a `repeat`.
  constexpr std::int64_t count(std::int64_t blocks) const {
    std::int64_t const begin = range.begin > 0 ? range.begin : 0, end = blocks < range.end ? blocks : range.end;
    return any() && end > begin ? (end - range.begin) / every - (begin - range.begin) / every : 0;
  }
  /// Returns the choice among blocks `first`, first + 1, ... of a `repeat` when they are counted from 0.
  constexpr recomputed_blocks from(std::int64_t first) const {
    return {every, {range.begin - first, range.end < block_range::no_end ? range.end - first : range.end}};
  }

  friend constexpr bool operator==(recomputed_blocks const&, recomputed_blocks const&) = default;

 private:
  constexpr recomputed_blocks(std::int64_t k, block_range const& blocks) : every(k), range(blocks) {}
};

}  // namespace redco
