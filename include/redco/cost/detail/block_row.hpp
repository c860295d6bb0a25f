#pragma once

#include <redco/fact/block_slice.hpp>
#include <redco/shape/block_range.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// Returns the number of blocks of a slice that run again in backward.
constexpr std::int64_t count_again(fact::block_slice const& blocks, recomputed_blocks const& of_repeat) {
  recomputed_blocks const again = of_repeat.from(blocks.base);
  if (blocks.step == 1 || !again.any()) return again.count(blocks.times);
  auto const before = [&](std::int64_t end) { return fact::block_slice{end, blocks.first, blocks.step}.count(); };
  std::int64_t const begin = std::clamp<std::int64_t>(again.range.begin, 0, blocks.times),
                     end = std::clamp<std::int64_t>(again.range.end, 0, blocks.times);
  if (again.every == 1) return before(end) - before(begin);
  std::int64_t count = 0;
  std::int64_t const skipped = (begin - again.range.begin) % again.every;
  for (std::int64_t i = begin + again.every - 1 - skipped; i < end; i += again.every) count += blocks.has(i);
  return count;
}

/// The consecutive blocks of an outermost `repeat`, and the bytes that forward saves of them. Each
/// block has a kind and may be recomputed. The input of a block shares storage with the output of
/// the preceding block.
struct block_row {
  /// A set of equal blocks: every n-th block of the row, stored as a slice.
  struct kind {
    std::size_t begin = 0, end = 0;  ///< range of events of the program
    fact::block_slice blocks;
    /// Bytes that one block of this kind saves in addition to its input, if the block is not
    /// recomputed.
    std::int64_t bytes = 0;
    bool saves_input = false, saves_output = false;
  };
  /// Numbers of blocks of one kind: blocks that are not recomputed, and blocks with an input of
  /// their own, not recomputed and recomputed.
  struct counts {
    std::int64_t once = 0, inputs_once = 0, inputs_again = 0;
  };

  std::vector<kind> kinds;
  recomputed_blocks again;       ///< counts as the row does, from 0
  bool entry_saved = false;      ///< a layer before the row saves the first block's input
  std::int64_t input_bytes = 0;  ///< bytes of one block's input

  constexpr std::int64_t blocks() const { return kinds[0].blocks.times; }
  /// Returns the number of the row's first block in its `repeat`.
  constexpr std::int64_t base() const { return kinds[0].blocks.base; }
  constexpr std::size_t kind_of(std::int64_t block) const {
    return static_cast<std::size_t>(block % kinds[0].blocks.step);
  }

  /// Returns true if a block saves its input and no layer before the block saves this input.
  constexpr bool has_own_input(std::int64_t block) const {
    if (!again.has(block) && !kinds[kind_of(block)].saves_input) return false;
    if (block == 0) return !entry_saved;
    return again.has(block - 1) || !kinds[kind_of(block - 1)].saves_output;
  }

  /// Returns the counts of each kind among the first `n` blocks.
  constexpr std::vector<counts> count(std::int64_t n) const {
    std::vector<counts> of(kinds.size());
    std::int64_t const length = period();
    for (block_range const& one : stretches(n)) {
      for (std::int64_t i = one.begin; i < one.end;) {
        // From its second block on, the periods of a stretch are equal.
        std::int64_t const times = i > one.begin ? (one.end - i) / length : 0;
        std::int64_t const next = times > 0 ? i + length : i + 1;
        for (std::int64_t j = i; j < next; ++j) add(of, j, times > 0 ? times : 1);
        i = times > 0 ? i + times * length : next;
      }
    }
    return of;
  }

  /// Returns the bytes that the first `n` blocks save.
  constexpr std::int64_t saved_in(std::int64_t n) const {
    std::vector<counts> const of = count(n);
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k)
      bytes += kinds[k].bytes * of[k].once + input_bytes * (of[k].inputs_once + of[k].inputs_again);
    return bytes;
  }

  /// Returns the last recomputed and the last other block of each kind, in descending order. These
  /// blocks hold most, because all preceding blocks' activations are still held.
  constexpr std::vector<std::int64_t> last_blocks() const {
    std::vector<std::int64_t> last;
    std::vector<block_range> const all = stretches(blocks());
    for (std::size_t n = all.size(); n-- > 0;) {
      for (std::int64_t i = all[n].end; i-- > all[n].begin && i >= all[n].end - period();) {
        bool seen = false;
        for (std::int64_t const other : last)
          seen = seen || (kind_of(other) == kind_of(i) && again.has(other) == again.has(i));
        if (!seen) last.push_back(i);
      }
    }
    return last;
  }

 private:
  /// Number of blocks after which the kinds and choices of a stretch come again.
  constexpr std::int64_t period() const { return kinds[0].blocks.step * (again.any() ? again.every : 1); }

  /// Returns the first `n` blocks as ranges before, within, and after the range of blocks that may run again.
  constexpr std::vector<block_range> stretches(std::int64_t n) const {
    std::int64_t const begin = std::clamp<std::int64_t>(again.range.begin, 0, n),
                       end = std::clamp<std::int64_t>(again.range.end, 0, n);
    return {{0, begin}, {begin, end}, {end, n}};
  }

  constexpr void add(std::vector<counts>& of, std::int64_t block, std::int64_t times) const {
    counts& one = of[kind_of(block)];
    if (!again.has(block)) one.once += times;
    if (has_own_input(block)) (again.has(block) ? one.inputs_again : one.inputs_once) += times;
  }
};

}  // namespace redco::cost::detail
