#pragma once

#include <redco/shape/blocks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco::shape {

/// The blocks of each pipeline stage. Stages run consecutive ranges of blocks, which together are
/// all blocks of a model. By default there is one stage with all blocks.
///
/// A layer outside blocks runs on the stage of the block that follows it, or on the last stage if
/// no block follows. So a stage begins directly after the last block of the preceding stage.
class stage_cuts {
 public:
  static constexpr int capacity = 64;

  /// Adds a stage that ends before block `end`, after the stages added so far. Requires that fewer
  /// than `capacity` stages were added.
  constexpr void push(std::int64_t end) { ends_[static_cast<std::size_t>(size_++)] = end; }

  constexpr int size() const { return size_ == 0 ? 1 : size_; }

  /// Returns the blocks of the stage with index `stage`.
  constexpr block_range blocks(int stage) const {
    if (size_ == 0) return {};
    return {stage == 0 ? 0 : ends_[static_cast<std::size_t>(stage - 1)], ends_[static_cast<std::size_t>(stage)]};
  }

  /// Returns the index of the stage that runs the block with index `block`; the last stage for an
  /// index after the last block.
  constexpr int stage_of(std::int64_t block) const {
    int stage = 0;
    while (stage + 1 < size() && ends_[static_cast<std::size_t>(stage)] <= block) ++stage;
    return stage;
  }

  friend constexpr bool operator==(stage_cuts const&, stage_cuts const&) = default;

 private:
  std::array<std::int64_t, capacity> ends_{};
  int size_ = 0;
};

}  // namespace redco::shape
