#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/shape/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// Returns the number of blocks of a slice (equal blocks of a stack) that backward recomputes.
/// `of_repeat` describes the recomputed blocks of the whole `repeat`.
constexpr std::int64_t count_again(fact::block_slice const& blocks, recomputed_blocks const& of_repeat) {
  recomputed_blocks const again = of_repeat.from(blocks.base);
  if (blocks.step == 1 || !again.any()) return again.count(blocks.times);
  auto const before = [&](std::int64_t end) { return fact::block_slice{end, blocks.first, blocks.step}.count(); };
  auto const [begin, end] = again.range.overlap({0, blocks.times});
  if (again.every == 1) return before(end) - before(begin);
  std::int64_t count = 0;
  std::int64_t const skipped = (begin - again.range.begin) % again.every;
  for (std::int64_t i = begin + again.every - 1 - skipped; i < end; i += again.every) count += blocks.has(i);
  return count;
}

/// An outermost stack of repeated blocks, not nested in another stack, and the bytes that forward
/// saves for it. Each block has a kind (block type) and may be recomputed. The input of a block
/// shares storage with the output of the preceding block.
struct block_row {
  /// The blocks of one type. In a stack with n block types, these are every n-th block.
  struct kind {
    /// Range [begin, end) of indices of the block type's events in the program
    std::size_t begin = 0, end = 0;
    fact::block_slice blocks;
    /// Bytes that one block of this type saves for backward in addition to its input, if the block
    /// is not recomputed.
    std::int64_t bytes = 0;
    bool saves_input = false, saves_output = false;
  };
  /// Numbers of blocks of one type. `once`: blocks that are not recomputed. `inputs_once`: blocks
  /// that are not recomputed, and that save their input as the first layer or block to do so.
  /// `inputs_again`: recomputed blocks that save their input as the first layer or block to do so.
  struct counts {
    std::int64_t once = 0, inputs_once = 0, inputs_again = 0;
  };

  std::vector<kind> kinds;
  recomputed_blocks again;  ///< Recomputed blocks; indices count from the first block of this stack
  /// True if a layer before the stack saves the stack's input (the input of its first block)
  bool entry_saved = false;
  std::int64_t input_bytes = 0;  ///< Bytes of the input of one block
  /// Number of blocks of outermost repeats that the model runs before this stack
  std::int64_t before = 0;

  constexpr std::int64_t blocks() const { return kinds[0].blocks.times; }
  /// Returns the index in the `repeat` of the stack's first block.
  constexpr std::int64_t base() const { return kinds[0].blocks.base; }
  constexpr std::size_t kind_of(std::int64_t block) const {
    return static_cast<std::size_t>(block % kinds[0].blocks.step);
  }

  /// Returns true if the block with index `block` saves its input as the first to do so: the
  /// preceding block or layer does not save this tensor.
  constexpr bool has_own_input(std::int64_t block) const {
    if (!again.has(block) && !kinds[kind_of(block)].saves_input) return false;
    if (block == 0) return !entry_saved;
    return again.has(block - 1) || !kinds[kind_of(block - 1)].saves_output;
  }

  /// Returns one element per block type: the numbers of blocks of this type among the first `n`
  /// blocks of the stack.
  constexpr std::vector<counts> count(std::int64_t n) const {
    std::vector<counts> of(kinds.size());
    std::int64_t const length = period();
    for (shape::block_range const& one : stretches(n)) {
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

  /// Returns the bytes that forward saves in the first `n` blocks of the stack.
  constexpr std::int64_t saved_in(std::int64_t n) const {
    std::vector<counts> const of = count(n);
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k)
      bytes += kinds[k].bytes * of[k].once + input_bytes * (of[k].inputs_once + of[k].inputs_again);
    return bytes;
  }

  /// Returns the indices of the blocks in which memory can peak in backward, in descending order.
  /// For each block type, these are the last recomputed block and the last block that is not
  /// recomputed. All earlier blocks still hold their activations at that time.
  constexpr std::vector<std::int64_t> last_blocks() const {
    std::vector<std::int64_t> last;
    std::vector<shape::block_range> const all = stretches(blocks());
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
  /// Returns the period of the stack: the number of blocks after which block types and the choice
  /// of recomputed blocks repeat.
  constexpr std::int64_t period() const { return kinds[0].blocks.step * (again.any() ? again.every : 1); }

  /// Divides the first `n` blocks into three ranges: before, inside and after `again.range`, the
  /// range in which blocks are recomputed.
  constexpr std::vector<shape::block_range> stretches(std::int64_t n) const {
    shape::block_range const chosen = again.range.overlap({0, n});
    return {{0, chosen.begin}, chosen, {chosen.end, n}};
  }

  constexpr void add(std::vector<counts>& of, std::int64_t block, std::int64_t times) const {
    counts& one = of[kind_of(block)];
    if (!again.has(block)) one.once += times;
    if (has_own_input(block)) (again.has(block) ? one.inputs_again : one.inputs_once) += times;
  }
};

}  // namespace redco::cost::detail
