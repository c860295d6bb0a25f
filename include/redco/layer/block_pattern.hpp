#pragma once

#include <cstdint>

namespace redco::layers {

/// A pattern of sparse causal attention. Positions are cut into blocks of `block` tokens, counted
/// from the first token of a row. Query block i sees key block j <= i if j is near or global;
/// within block i, the causal rule holds. Patterns are constants: no mask is stored.
///
/// Near blocks are those of i's window of `local` blocks (the "fixed" pattern of Child et al.
/// 2019), or the last `local` blocks up to i if `sliding`. The last `global` blocks of each window
/// are global. Head h counts them from h % `patterns` * `global` blocks before the window's end.
struct block_pattern {
  std::int64_t block = 0;     ///< Number of tokens per block; 0: no pattern
  std::int64_t local = 1;     ///< Number of blocks per window
  std::int64_t global = 0;    ///< Number of global blocks per window
  std::int64_t patterns = 1;  ///< Number of sets of global blocks; head h has set h % patterns
  bool sliding = false;       ///< True if a query block's window ends at the query block itself

  constexpr bool is_sparse() const { return block > 0; }

  /// Returns the first near block of query block `i`; the last near block is `i`.
  constexpr std::int64_t near_begin(std::int64_t i) const {
    if (sliding) return i + 1 > local ? i + 1 - local : 0;
    return i / local * local;
  }

  /// Returns true if all query blocks from `j` on see key block `j` in a head. `head`: index of the
  /// head among the heads of all ranks.
  constexpr bool is_global(std::int64_t head, std::int64_t j) const {
    std::int64_t const from_end = local - 1 - j % local, first = head % patterns * global;
    return from_end >= first && from_end < first + global;
  }

  /// Returns true if query block `i` sees key block `j` in a head.
  constexpr bool has(std::int64_t head, std::int64_t i, std::int64_t j) const {
    return j <= i && (j >= near_begin(i) || is_global(head, j));
  }

  /// Returns the number of global blocks before the first near block of query block `i`.
  constexpr std::int64_t far_blocks(std::int64_t head, std::int64_t i) const {
    std::int64_t const before = near_begin(i), first = local - (head % patterns + 1) * global;
    std::int64_t const rest = before % local - first;
    return before / local * global + (rest < 0 ? 0 : rest < global ? rest : global);
  }

  /// Returns the number of pairs of a query block and a key block that a head sees among the first
  /// `blocks` blocks. Dense causal attention sees blocks * (blocks + 1) / 2 pairs.
  constexpr std::int64_t live_blocks(std::int64_t head, std::int64_t blocks) const {
    std::int64_t live = 0;
    for (std::int64_t i = 0; i < blocks; ++i) live += far_blocks(head, i) + i + 1 - near_begin(i);
    return live;
  }

  /// Returns the number of scores that `heads` heads compute for the first `tokens` positions.
  /// These are the pairs of a query and a key in live pairs of blocks. The last block may be
  /// incomplete.
  constexpr std::int64_t live_scores(std::int64_t heads, std::int64_t tokens) const {
    std::int64_t const whole = tokens / block, tail = tokens % block;
    std::int64_t sum = 0;
    for (std::int64_t p = 0; p < patterns && p < heads; ++p) {
      // The queries of the tail see complete blocks of keys, and then the tail.
      std::int64_t const of_tail = (far_blocks(p, whole) + whole - near_begin(whole)) * block + tail;
      std::int64_t const of_head = live_blocks(p, whole) * block * block + tail * of_tail;
      sum += of_head * ((heads - p + patterns - 1) / patterns);
    }
    return sum;
  }

  friend constexpr bool operator==(block_pattern const&, block_pattern const&) = default;
};

}  // namespace redco::layers
