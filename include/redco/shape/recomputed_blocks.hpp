#pragma once

#include <cstdint>
#include <type_traits>

namespace redco {

/// Which blocks of a `repeat` save only their input in forward and run again in backward, counted from the first: none, all,
/// every k-th as torchtitan's selective activation checkpointing, or the first n as Megatron-LM's `--recompute-method block`.
/// Of a repeat within a block all blocks run again with that block, or none.
struct recomputed_blocks {
  std::int64_t every = 0;  ///< so many-th block: 1 all, 2 the second, the fourth and so on; 0: as `first` says
  std::int64_t first = 0;  ///< so many blocks

  constexpr recomputed_blocks() = default;
  /// All blocks, or none.
  template <class Bool>
    requires std::is_same_v<Bool, bool>
  constexpr recomputed_blocks(Bool all) : every(all ? 1 : 0) {}

  static constexpr recomputed_blocks every_kth(std::int64_t k) { return {k, 0}; }
  static constexpr recomputed_blocks first_n(std::int64_t n) { return {0, n}; }

  constexpr bool any() const { return every > 0 || first > 0; }
  /// Whether this block, counted from 0, is one.
  constexpr bool has(std::int64_t block) const { return every > 0 ? (block + 1) % every == 0 : block < first; }
  /// How many of the first `blocks` are.
  constexpr std::int64_t count(std::int64_t blocks) const {
    return every > 0 ? blocks / every : blocks < first ? blocks : first;
  }

  friend constexpr bool operator==(recomputed_blocks const&, recomputed_blocks const&) = default;

 private:
  constexpr recomputed_blocks(std::int64_t k, std::int64_t n) : every(k), first(n) {}
};

}  // namespace redco
