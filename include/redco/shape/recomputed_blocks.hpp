#pragma once

#include <cstdint>
#include <type_traits>

namespace redco {

/// A choice of the blocks of a `repeat` that save only their input in forward and run again in
/// backward. Choices are none, all, every k-th (torchtitan's selective activation checkpointing),
/// or the first n (Megatron-LM's `--recompute-method block`). A `repeat` nested in a block runs
/// again as a whole, with that block.
struct recomputed_blocks {
  /// Period of the recomputed blocks: 1 for all, 2 for the second, fourth and so on; 0 if `first`
  /// decides.
  std::int64_t every = 0;
  std::int64_t first = 0;  ///< Number of recomputed blocks, from the first on

  constexpr recomputed_blocks() = default;
  /// Chooses all blocks (true) or none (false).
  template <class Bool>
    requires std::is_same_v<Bool, bool>
  constexpr recomputed_blocks(Bool all) : every(all ? 1 : 0) {}

  static constexpr recomputed_blocks every_kth(std::int64_t k) { return {k, 0}; }
  static constexpr recomputed_blocks first_n(std::int64_t n) { return {0, n}; }

  constexpr bool any() const { return every > 0 || first > 0; }
  /// Returns true if the block with this index, from 0, is recomputed.
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
