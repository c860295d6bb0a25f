#pragma once

#include <redco/shape/blocks.hpp>
#include <redco/shape/bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::shape {

/// The cut of a model's blocks into chunks (consecutive ranges, which together are all blocks), and
/// the pipeline stage that runs each chunk. By default there is one stage with one chunk.
///
/// A layer outside blocks runs with the chunk of the block that follows it, or with the last chunk
/// if no block follows. So a chunk begins directly after the last block of the preceding chunk.
class stage_cuts {
 public:
  static constexpr int most_stages = 64;
  static constexpr int most_chunks = 256;

  /// Returns a cut into chunks with these numbers of blocks. Numbers after the first `most_chunks`
  /// are left out.
  static constexpr stage_cuts of(std::vector<std::int64_t> const& lengths) {
    stage_cuts cuts;
    std::int64_t end = 0;
    for (std::int64_t const length : lengths) {
      end = saturating_add(end, length);
      if (cuts.size_ < most_chunks) cuts.push(end);
    }
    return cuts;
  }

  /// Adds a chunk that ends before block `end`, after the chunks added so far. Requires that fewer
  /// than `most_chunks` chunks were added.
  constexpr void push(std::int64_t end) { ends_[static_cast<std::size_t>(size_++)] = end; }

  /// Deals the chunks to `stages` stages in turn: chunk c runs on stage c modulo `stages`. Without
  /// a call, each chunk is a stage of its own. Call it after the last push().
  constexpr void deal(int stages) { stages_ = stages; }

  /// `size` returns the number of chunks, `stages` the number of stages.
  constexpr int size() const { return size_ == 0 ? 1 : size_; }
  constexpr int stages() const { return stages_ == 0 ? size() : stages_; }

  /// Returns the blocks of the chunk with index `chunk`.
  constexpr block_range blocks(int chunk) const {
    if (size_ == 0) return {};
    return {chunk == 0 ? 0 : ends_[static_cast<std::size_t>(chunk - 1)], ends_[static_cast<std::size_t>(chunk)]};
  }

  /// Returns the index of the chunk that contains the block with index `block`; the last chunk for
  /// an index after the last block.
  constexpr int chunk_of(std::int64_t block) const {
    int chunk = 0;
    while (chunk + 1 < size() && ends_[static_cast<std::size_t>(chunk)] <= block) ++chunk;
    return chunk;
  }

  /// Returns the index of the stage that runs the block with index `block`.
  constexpr int stage_of(std::int64_t block) const { return chunk_of(block) % stages(); }

  /// Returns the number of blocks of each stage, as the option --stages has them; empty by default.
  constexpr std::vector<std::int64_t> lengths() const {
    std::vector<std::int64_t> all;
    for (int i = 0; i < size_; ++i) all.push_back(blocks(i).end - blocks(i).begin);
    return all;
  }

  friend constexpr bool operator==(stage_cuts const&, stage_cuts const&) = default;

 private:
  std::array<std::int64_t, most_chunks> ends_{};
  int size_ = 0, stages_ = 0;
};

/// The blocks that one pipeline stage runs; by default all blocks.
class stage_blocks {
 public:
  constexpr stage_blocks() = default;
  constexpr stage_blocks(stage_cuts const& cuts, int stage) : cuts_(cuts), stage_(stage) {}
  /// Makes the blocks of a stage that runs one range of blocks.
  constexpr stage_blocks(block_range const& range) : stage_(range.begin > 0 ? 1 : 0) {
    if (range.begin > 0) cuts_.push(range.begin);
    cuts_.push(range.end);
    if (range.end < block_range::no_end) cuts_.push(block_range::no_end);
  }

  constexpr stage_cuts const& cuts() const { return cuts_; }
  constexpr bool has(std::int64_t block) const { return cuts_.stage_of(block) == stage_; }

  /// Returns the number of chunks (consecutive ranges of blocks) of the stage.
  constexpr int chunks() const { return (cuts_.size() - stage_ + cuts_.stages() - 1) / cuts_.stages(); }
  /// Returns the index, among the chunks of all stages, of the stage's chunk number `i`.
  constexpr int chunk(int i) const { return stage_ + i * cuts_.stages(); }

 private:
  stage_cuts cuts_;
  int stage_ = 0;
};

}  // namespace redco::shape
