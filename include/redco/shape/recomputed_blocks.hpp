#pragma once

#include <cstdint>
#include <type_traits>

namespace redco {

/// A choice of the blocks of a `repeat` that are recomputed: they save only their input in forward
/// and run again in backward. The choice is none, all, every k-th block (torchtitan's selective
/// activation checkpointing), or the first n (Megatron-LM's `--recompute-method block`). A `repeat`
/// nested in a recomputed block is recomputed as a part of the block.
struct recomputed_blocks {
  /// Distance between recomputed blocks: 1 recomputes all, 2 the second, fourth and so on. 0:
  /// `first` determines the blocks.
  std::int64_t every = 0;
  std::int64_t first = 0;  ///< Number of recomputed blocks at the beginning; used if `every` is 0

  constexpr recomputed_blocks() = default;
  /// Recomputes all blocks if `all` is true, none otherwise. Accepts only a bool.
  template <class Bool>
    requires std::is_same_v<Bool, bool>
  constexpr recomputed_blocks(Bool all) : every(all ? 1 : 0) {}

  static constexpr recomputed_blocks every_kth(std::int64_t k) { return {k, 0}; }
  static constexpr recomputed_blocks first_n(std::int64_t n) { return {0, n}; }

  constexpr bool any() const { return every > 0 || first > 0; }
  /// Returns true if the block with index `block` (from 0) is recomputed.
  constexpr bool has(std::int64_t block) const { return every > 0 ? (block + 1) % every == 0 : block < first; }
  /// Returns the number of recomputed blocks among the first `blocks` blocks.
  constexpr std::int64_t count(std::int64_t blocks) const {
    return every > 0 ? blocks / every : blocks < first ? blocks : first;
  }

  friend constexpr bool operator==(recomputed_blocks const&, recomputed_blocks const&) = default;

 private:
  constexpr recomputed_blocks(std::int64_t k, std::int64_t n) : every(k), first(n) {}
};

}  // namespace redco
