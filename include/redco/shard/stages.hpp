#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
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

/// Returns a cut of blocks into `stages` stages whose largest amount of work is as small as
/// possible. `work` is the work of each block. Each stage has at least one block, and earlier
/// stages get as many blocks as they can. Requires 1 <= stages <= work.size() and stages <=
/// stage_cuts::most_stages.
constexpr shape::stage_cuts balanced_stages(std::vector<std::int64_t> const& work, int stages) {
  std::int64_t least = 0, most = 0;
  for (std::int64_t const one : work) {
    least = least < one ? one : least;
    most += one;
  }
  auto const blocks = static_cast<std::int64_t>(work.size());
  // Cuts the blocks into stages of at most `limit` each; returns the number of stages needed.
  auto const cut = [&](std::int64_t limit, shape::stage_cuts* to) {
    int needed = 1;
    std::int64_t in_stage = 0, length = 0;
    for (std::int64_t i = 0; i < blocks; ++i) {
      std::int64_t const one = work[static_cast<std::size_t>(i)];
      bool const rest_needs_all = to != nullptr && blocks - i == stages - needed;
      if (length > 0 && (in_stage + one > limit || rest_needs_all)) {
        if (to != nullptr) to->push(i);
        ++needed;
        in_stage = length = 0;
      }
      in_stage += one;
      ++length;
    }
    if (to != nullptr) to->push(blocks);
    return needed;
  };
  while (least < most) {
    std::int64_t const middle = least + (most - least) / 2;
    if (cut(middle, nullptr) <= stages) most = middle;
    else least = middle + 1;
  }
  shape::stage_cuts result;
  cut(least, &result);
  return result;
}

}  // namespace redco::shard
