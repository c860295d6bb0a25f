#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/shape/stage_cuts.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::shard {

/// Returns the number of floating-point operations of forward for each block of a model, numbered
/// over all outermost `repeat`s. A block's number includes the layers directly before it, and the
/// last block's number includes the layers after it. Empty for a model without blocks.
constexpr std::vector<std::int64_t> work_of_blocks(fact::program const& of) {
  std::vector<std::int64_t> blocks;
  std::vector<std::int64_t> copies;  // numbers of blocks of the repeats around the current event
  std::int64_t before = 0;           // operations since the last outermost block
  std::size_t row = 0;               // index of the first block of the current stack
  fact::block_slice slice;
  for (fact::event const& e : of.events) {
    switch (e.kind) {
      case fact::event_kind::repeat:
        copies.push_back(copies.empty() ? 1 : e.blocks.count());
        if (copies.size() > 1) break;
        slice = e.blocks;
        if (slice.first == 0) {
          row = blocks.size();
          for (std::int64_t i = 0; i < slice.times; ++i) blocks.push_back(i == 0 ? std::exchange(before, 0) : 0);
        }
        break;
      case fact::event_kind::repeat_end: copies.pop_back(); break;
      case fact::event_kind::multiply: {
        std::int64_t operations = e.count;
        for (std::int64_t const times : copies) operations *= times;
        if (copies.empty()) before += operations;
        else
          for (std::int64_t i = slice.first; i < slice.times; i += slice.step)
            blocks[row + static_cast<std::size_t>(i)] += operations;
        break;
      }
      default: break;
    }
  }
  if (!blocks.empty()) blocks.back() += before;
  return blocks;
}

/// Returns the largest number of pipeline stages into which a model can be cut: its number of
/// blocks, at most stage_cuts::most_stages. Returns 1 for a model without blocks, and for a model
/// whose blocks are inside a branch.
constexpr int most_stages(fact::program const& of) {
  std::int64_t blocks = 0;
  int depth = 0;
  for (fact::event const& e : of.events) {
    depth -= e.kind == fact::event_kind::repeat_end;
    if (e.kind == fact::event_kind::repeat && depth++ == 0 && e.blocks.first == 0) blocks += e.blocks.times;
  }
  if (!of.has_cuttable_rows || blocks < 1) return 1;
  return blocks < shape::stage_cuts::most_stages ? static_cast<int>(blocks) : shape::stage_cuts::most_stages;
}

}  // namespace redco::shard

namespace redco::shard::detail {

/// Returns the number of stages that the first `blocks` blocks need if each stage has at most
/// `limit` work. Requires that no block has more work.
constexpr int stages_needed(std::vector<std::int64_t> const& work, std::int64_t blocks, std::int64_t limit) {
  int needed = 1;
  std::int64_t in_stage = 0;
  for (std::int64_t i = 0; i < blocks; ++i) {
    std::int64_t const one = work[static_cast<std::size_t>(i)];
    if (in_stage + one > limit) ++needed, in_stage = 0;
    in_stage += one;
  }
  return needed;
}

/// Returns the smallest possible largest work of `stages` stages that run the first `blocks`
/// blocks.
constexpr std::int64_t least_limit(std::vector<std::int64_t> const& work, std::int64_t blocks, int stages) {
  std::int64_t least = 0, most = 0;
  for (std::int64_t i = 0; i < blocks; ++i) {
    std::int64_t const one = work[static_cast<std::size_t>(i)];
    least = least < one ? one : least;
    most += one;
  }
  while (least < most) {
    std::int64_t const middle = least + (most - least) / 2;
    if (stages_needed(work, blocks, middle) <= stages) most = middle;
    else least = middle + 1;
  }
  return least;
}

}  // namespace redco::shard::detail

namespace redco::shard {

/// Returns true if `lengths`, numbers of blocks, cut `blocks` blocks into `chunks` chunks.
constexpr bool cuts_blocks(std::vector<std::int64_t> const& lengths, std::int64_t blocks, std::int64_t chunks) {
  std::int64_t sum = 0;
  for (std::int64_t const length : lengths) {
    if (length < 1) return false;
    sum = shape::saturating_add(sum, length);
  }
  return sum == blocks && static_cast<std::int64_t>(lengths.size()) == chunks &&
         chunks <= shape::stage_cuts::most_chunks;
}

/// Returns a cut of blocks into `stages` stages whose largest amount of work is as small as
/// possible. `work` is the work of each block. Each stage has at least one block. The last stage
/// has as many blocks as it can; the other stages are balanced alike among themselves. Requires 1
/// <= stages <= work.size() and stages <= stage_cuts::most_chunks.
constexpr shape::stage_cuts balanced_stages(std::vector<std::int64_t> const& work, int stages) {
  std::vector<std::int64_t> begins;  // of the last stage, the stage before it, and so on
  auto blocks = static_cast<std::int64_t>(work.size());
  for (int left = stages; left > 1; --left) {
    std::int64_t const limit = detail::least_limit(work, blocks, left);
    std::int64_t in_stage = work[static_cast<std::size_t>(--blocks)];
    while (blocks >= left && in_stage + work[static_cast<std::size_t>(blocks - 1)] <= limit)
      in_stage += work[static_cast<std::size_t>(--blocks)];
    begins.push_back(blocks);
  }
  shape::stage_cuts result;
  for (std::size_t i = begins.size(); i-- > 0;) result.push(begins[i]);
  result.push(static_cast<std::int64_t>(work.size()));
  return result;
}

}  // namespace redco::shard
