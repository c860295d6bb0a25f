#pragma once

#include <redco/cost/detail/shared_buffers.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/entry.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/dtype.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// The bytes that a rank holds for the block in use, if the replicas keep shares of the values
/// (ZeRO 3). These are gathered values, and gradients that wait for their sum. All are 0 in other
/// runs.
class gathered_blocks {
 public:
  /// `of`: the program of a model, or of consecutive blocks that a pipeline stage runs.
  constexpr gathered_blocks(fact::program const& of, setup const& s) {
    if (s.zero.level < 3) return;
    shared_buffers const buffers(of.parameters, s);
    if (!buffers.zero.shares_values()) return;
    element_ = shape::size_of(s.compute);
    std::int64_t const begin = s.mesh.pp == 1 ? 0 : first_of(buffers);
    blocks_ = buffers.blocks() - begin;
    keep_ = std::clamp<std::int64_t>(buffers.zero.keep - begin, 0, blocks_);
    overlaps_ = buffers.zero.overlaps;
    copy_ = buffers.largest_share() + buffers.most_in_flight();
    for (shared_part const& one : buffers.parts) {
      std::int64_t const first = one.first < 0 ? -1 : one.first - begin, last = first + one.last() - one.first;
      std::int64_t const gradients = buffers.zero.sums_in_backward() ? one.most_waiting() : 0;
      parts_.push_back({first, one.step, last, one.size(), gradients});
      for (std::int64_t block = first; block <= last; block += one.step)
        if (block < keep_) always_ += one.size();
    }
    // Without sums in backward, gradients have places in the flat buffer.
    if (!buffers.zero.sums_in_backward()) return;
    for (fact::parameter_fact const& fact : of.parameters) add_waiting(fact, s);
  }

  /// Returns the index of the last block of the model; -1 if it has none.
  constexpr std::int64_t last() const { return blocks_ - 1; }

  /// Returns the bytes of gathered values while the values of the block `block` are in memory; -1
  /// for no block. Includes layers outside blocks and kept blocks.
  constexpr std::int64_t values(std::int64_t block) const { return (always_ + of_block(block)) * element_; }
  /// Returns these bytes during forward (backward) of the block. If gathers overlap with
  /// computation, includes the next block of forward (the largest earlier block).
  constexpr std::int64_t values_in_forward(std::int64_t block) const {
    return values(block) + (overlaps_ && block + 1 < blocks_ ? of_block(block + 1) * element_ : 0);
  }
  constexpr std::int64_t values_in_backward(std::int64_t block) const {
    std::int64_t most = 0;
    for (part const& one : parts_)
      if (overlaps_ && one.first >= 0 && one.has_in(keep_, block)) most = std::max(most, one.values);
    return values(block) + most * element_;
  }

  /// Returns an upper bound of the bytes of parameters' gradients that wait for their sum during
  /// backward of the block `block`. Includes the copy of a share that a sum or a gather needs, and
  /// a sum that overlaps. `has_own`: true if a gradient in the block is complete.
  constexpr std::int64_t gradients_in(std::int64_t block, bool has_own) const {
    if (parts_.empty()) return 0;
    part const* const of = has_own ? part_of(block) : nullptr;
    return (parts_[0].gradients + (of != nullptr ? of->gradients : 0) + copy_ + waiting(block, block + 1)) * element_;
  }
  /// Returns this bound for a layer outside blocks before which `position` blocks run.
  constexpr std::int64_t gradients_at(std::int64_t position) const {
    return parts_.empty() ? 0 : (parts_[0].gradients + copy_ + waiting(position, position)) * element_;
  }

  /// Returns the bytes of values that are in memory whichever block is in use.
  constexpr std::int64_t always() const { return always_ * element_; }

 private:
  /// Some equal blocks, or the layers outside blocks: elements of the values, and of gradients that
  /// wait for their sum.
  struct part {
    std::int64_t first, step, last, values, gradients;

    constexpr bool has(std::int64_t block) const {
      return first >= 0 && first <= block && block <= last && (block - first) % step == 0;
    }
    /// Returns true if one of the blocks is in the range [begin, end).
    constexpr bool has_in(std::int64_t begin, std::int64_t end) const {
      std::int64_t const next = begin <= first ? first : begin + (step - (begin - first) % step) % step;
      return next < end && next <= last;
    }
  };
  /// A parameter that several layers outside blocks read. Its gradient is complete after the
  /// backward of the first of them, and the sum of the others waits for it.
  struct tied_parameter {
    std::int64_t first, last;  ///< Positions of the first and of the last of these layers
    std::int64_t elements;
  };

  /// Returns the index of the first block that has parameters; 0 if there is none.
  static constexpr std::int64_t first_of(shared_buffers const& buffers) {
    std::int64_t first = -1;
    for (shared_part const& part : buffers.parts)
      if (part.first >= 0 && (first < 0 || part.first < first)) first = part.first;
    return std::max<std::int64_t>(first, 0);
  }

  constexpr void add_waiting(fact::parameter_fact const& fact, setup const& s) {
    if (!fact.trained || fact.reader_count < 2) return;
    tied_parameter one{fact.readers[0].begin, fact.readers[0].end - 1, shard::entry{fact, s.mesh}.local().count()};
    for (std::size_t i = 1; i < fact.reader_count; ++i) {
      one.first = std::min(one.first, fact.readers[i].begin);
      one.last = std::max(one.last, fact.readers[i].end - 1);
    }
    tied_.push_back(one);
  }

  /// Returns the elements of gradients of tied parameters that wait. A layer at position `from` or
  /// after it has added its part. A layer at position `to` or before it has not.
  constexpr std::int64_t waiting(std::int64_t to, std::int64_t from) const {
    std::int64_t sum = 0;
    for (tied_parameter const& one : tied_)
      if (one.first <= to && from <= one.last) sum += one.elements;
    return sum;
  }

  /// Returns the elements of the values of a block that is not kept; 0 for other blocks.
  constexpr std::int64_t of_block(std::int64_t block) const {
    part const* const of = block < keep_ ? nullptr : part_of(block);
    return of != nullptr ? of->values : 0;
  }

  constexpr part const* part_of(std::int64_t block) const {
    for (part const& one : parts_)
      if (one.has(block)) return &one;
    return nullptr;
  }

  std::int64_t element_ = 0, blocks_ = 0, keep_ = 0;
  std::int64_t always_ = 0;  ///< Elements of the layers outside blocks, and of kept blocks
  /// Elements of the largest share, and of a bucket whose sum runs while backward fills the next
  std::int64_t copy_ = 0;
  bool overlaps_ = false;
  std::vector<part> parts_;
  std::vector<tied_parameter> tied_;
};

}  // namespace redco::cost::detail
