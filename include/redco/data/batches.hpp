#pragma once

#include <redco/data/sampler.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::data {

/// A range of indices begin, begin + 1, ..., end - 1.
struct interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  constexpr std::int64_t size() const { return end - begin; }
  constexpr bool empty() const { return end <= begin; }

  friend constexpr bool operator==(interval const&, interval const&) = default;
};

/// Returns part `index` of the interval `whole`, cut into `parts` contiguous parts. Their sizes
/// differ by at most one, larger parts first: 16 elements in 3 parts are 6, 5, 5. With fewer
/// elements than parts, the last parts are empty. Requires parts >= 1 and 0 <= index < parts.
constexpr interval shard_of(interval whole, std::int64_t parts, std::int64_t index) {
  std::int64_t const small = whole.size() / parts;
  std::int64_t const larger = whole.size() % parts;
  auto const start = [&](std::int64_t i) { return whole.begin + small * i + (i < larger ? i : larger); };
  return {start(index), start(index + 1)};
}

/// Options that divide the examples of an epoch into batches. `global_batch` counts examples over
/// all ranks, so that every mesh does the same steps.
struct batch_options {
  /// Number of examples of one step over all ranks, at least `dp`. The last step of an epoch uses
  /// the remaining examples.
  std::int64_t global_batch = 1;
  /// Largest number of examples that a data-parallel shard computes at once; 0 to compute its whole
  /// share of a step at once.
  std::int64_t micro_batch = 0;
  /// Number of data-parallel shards (replicas): the product of the sizes of the
  /// axes dp, ds and ep.
  int dp = 1;
  /// Index of this data-parallel shard, from 0 to `dp - 1`.
  int dp_index = 0;
};

/// The position of a run in its data, saved in checkpoints: the epoch, and the number of the
/// epoch's examples that all ranks have used. It counts examples, not steps, so that a resumed run
/// may have another global batch.
struct data_position {
  std::int64_t epoch = 0;
  std::int64_t position = 0;

  friend constexpr bool operator==(data_position const&, data_position const&) = default;
};

/// The examples of one optimizer step, as one data-parallel shard sees them. Intervals are ranges
/// of positions in the epoch's shuffled order.
struct batch_step {
  /// Range of the step's examples over all data-parallel shards.
  interval global;
  /// Range of this shard's examples; empty if the last batch has fewer examples than shards. A
  /// shard without examples runs no micro-batch, and joins the step's collectives with zero
  /// gradients and a count of zero.
  interval local;
  /// Number of micro-batches of this shard; other shards may have another number. Layers such as
  /// batch norm sum over the shards once per micro-batch; a shard that has no further micro-batch
  /// takes part with zeros.
  std::int64_t micro_batches = 0;
  /// Largest number of micro-batches of any shard in the step. Layers such as batch norm sum over
  /// the shards once per round.
  std::int64_t rounds = 0;
  /// Smallest number of micro-batches of any shard in the step. In the first `full_rounds` rounds,
  /// every shard has a micro-batch.
  std::int64_t full_rounds = 0;
  /// Position of the run in its data after this step. After an epoch's last step, it is the start
  /// of the next epoch.
  data_position next;
};

/// A micro-batch: the examples for which one rank runs the model at once, and their position in the
/// step.
struct micro_batch {
  /// Index of the micro-batch's optimizer step, counted from the first step of its `batches`
  /// object.
  std::int64_t step = 0;
  /// Index of the micro-batch among the micro-batches of its step on this data-parallel shard.
  std::int64_t index = 0;
  /// Index of the micro-batch's first example in the step's global batch. Random numbers depend on
  /// the step and this index.
  std::int64_t first_example = 0;
  /// Indices in the data set of the micro-batch's examples; never empty.
  std::vector<std::int64_t> examples;
};

/// The remaining steps and micro-batches of an epoch on one data-parallel shard. The shuffled order
/// of examples is cut into global batches, these into one contiguous range per shard, and these
/// into micro-batches. No example is dropped or repeated; the last global batch may be smaller.
/// Every lookup takes constant time, and threads may call concurrently.
class batches {
 public:
  /// Makes the batches from position `from` to the epoch's end. Throws `error` with exit code 64 if
  /// global_batch is smaller than dp or a number is out of range, 65 if `from` is outside the data
  /// set.
  batches(sampler const& order, batch_options const& options, data_position from = {})
      : sampler_(order), options_(options), from_(from) {
    check();
    if (options_.micro_batch == 0) options_.micro_batch = options_.global_batch;
    std::int64_t const whole_steps = remaining() / options_.global_batch;
    micro_per_step_ = whole_steps > 0 ? step(0).micro_batches : 0;
    size_ = whole_steps * micro_per_step_ + (whole_steps < steps() ? step(whole_steps).micro_batches : 0);
    // The only step is the smaller last one.
    if (micro_per_step_ == 0) micro_per_step_ = size_;
  }

  /// Returns the number of optimizer steps left in the epoch, equal on every rank.
  std::int64_t steps() const { return ceil_divide(remaining(), options_.global_batch); }

  /// Returns step `k`, counted from the starting position. Requires 0 <= k < steps().
  batch_step step(std::int64_t k) const {
    std::int64_t const begin = from_.position + k * options_.global_batch;
    std::int64_t const end = std::min(begin + options_.global_batch, sampler_.size());
    interval const global{begin, end};
    interval const local = shard_of(global, options_.dp, options_.dp_index);
    return {global,
            local,
            ceil_divide(local.size(), options_.micro_batch),
            ceil_divide(shard_of(global, options_.dp, 0).size(), options_.micro_batch),
            ceil_divide(shard_of(global, options_.dp, options_.dp - 1).size(), options_.micro_batch),
            end == sampler_.size() ? data_position{from_.epoch + 1, 0} : data_position{from_.epoch, end}};
  }

  /// Returns the number of micro-batches left in the epoch on this data-parallel shard.
  std::int64_t size() const { return size_; }

  /// Returns micro-batch `i` of this shard, counted over all steps. Requires 0 <= i < size().
  micro_batch operator[](std::int64_t i) const {
    std::int64_t const k = i / micro_per_step_;
    std::int64_t const index = i % micro_per_step_;
    batch_step const at = step(k);
    std::int64_t const begin = at.local.begin + index * options_.micro_batch;
    std::int64_t const end = std::min(begin + options_.micro_batch, at.local.end);
    micro_batch result{k, index, begin - at.global.begin, {}};
    result.examples.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t position = begin; position < end; ++position)
      result.examples.push_back(sampler_.at(from_.epoch, position));
    return result;
  }

 private:
  static constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

  std::int64_t remaining() const { return sampler_.size() - from_.position; }

  void check() const {
    if (options_.dp < 1 || options_.dp_index < 0 || options_.dp_index >= options_.dp || options_.micro_batch < 0)
      throw error(exit_code::usage, "batches of dp shard " + std::to_string(options_.dp_index) + " of " +
                                        std::to_string(options_.dp) + ", micro batch " +
                                        std::to_string(options_.micro_batch) + ": there is no such division");
    if (options_.global_batch < options_.dp)
      throw error(exit_code::usage, "global batch " + std::to_string(options_.global_batch) + " is smaller than dp " +
                                        std::to_string(options_.dp) +
                                        ": each dp shard needs an example; raise --global-batch or lower the ranks");
    if (from_.epoch < 0 || from_.position < 0 || from_.position >= sampler_.size())
      throw error(exit_code::data, "data position " + std::to_string(from_.position) + " of epoch " +
                                       std::to_string(from_.epoch) + " does not lie in a data set of " +
                                       std::to_string(sampler_.size()) +
                                       " examples: resume with the data it was saved with");
  }

  sampler sampler_;
  batch_options options_;
  data_position from_;
  std::int64_t micro_per_step_ = 0;
  std::int64_t size_ = 0;
};

}  // namespace redco::data
