#pragma once

#include <redco/data/sampler.hpp>
#include <redco/data/shard_of.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace redco {

/// How a global batch is divided. Sizes are global: another mesh is the same job.
struct batch_options {
  /// Examples of one step over all ranks; the last step of an epoch uses what is left. At least dp.
  std::int64_t global_batch = 1;
  /// Most examples that a dp shard feeds through the model at once; 0: its whole shard.
  std::int64_t micro_batch = 0;
  /// Number of dp shards (replicas along the axes dp and ep), and which of them this is.
  int dp = 1;
  int dp_index = 0;
};

/// Where a run stands in its data, saved in checkpoints: the epoch, and how many examples of that epoch's order all
/// ranks together have used. Counting examples, not steps, keeps the position meaningful when the global batch changes
/// on resume.
struct data_position {
  std::int64_t epoch = 0;
  std::int64_t position = 0;

  friend constexpr bool operator==(data_position const&, data_position const&) = default;
};

/// One optimizer step as a dp shard sees it; intervals are places in the epoch's order.
struct batch_step {
  /// The examples of all shards.
  interval global;
  /// The examples of this shard. Empty when the last batch has fewer examples than there are shards: such a shard runs
  /// no micro-batch and takes part in the step's collectives with gradients of zero and a count of zero.
  interval local;
  /// Micro-batches of this shard. Shards may differ: a layer that sums over dp within a micro-batch does so in rounds, which a
  /// shard without a micro-batch sits out.
  std::int64_t micro_batches = 0;
  /// Micro-batches of the largest shard: how often ranks must meet that do communicate over dp within micro-batches.
  std::int64_t rounds = 0;
  /// Micro-batches of the smallest shard: rounds in which every shard has one.
  std::int64_t full_rounds = 0;
  /// Where the run stands after this step; the end of an epoch is the start of the next.
  data_position next;
};

/// What one rank feeds through the model at once.
struct micro_batch {
  /// The step it belongs to, counted from the position at which the batches began.
  std::int64_t step = 0;
  /// Its number within the step on this dp shard.
  std::int64_t index = 0;
  /// The place of its first example within the step's global batch: with the step, the row coordinate of random
  /// numbers.
  std::int64_t first_example = 0;
  /// Indices into the data set, at least one.
  std::vector<std::int64_t> examples;
};

/// What is left of an epoch for one dp shard: sampler order -> global batches -> contiguous dp shards -> micro-batches.
/// No example is dropped or repeated; the last, smaller global batch is used. Everything is found from its number in
/// constant time, so threads may ask at once and in any order.
class batches {
 public:
  /// Throws error 64 when global_batch is smaller than dp or a number is out of range, and 65 when the position does
  /// not lie in the data set.
  batches(redco::sampler const& order, batch_options const& options, data_position from = {})
      : sampler_(order), options_(options), from_(from) {
    check();
    if (options_.micro_batch == 0) options_.micro_batch = options_.global_batch;
    std::int64_t const whole_steps = remaining() / options_.global_batch;
    micro_per_step_ = whole_steps > 0 ? step(0).micro_batches : 0;
    size_ = whole_steps * micro_per_step_ + (whole_steps < steps() ? step(whole_steps).micro_batches : 0);
    if (micro_per_step_ == 0) micro_per_step_ = size_;  // the only step is the smaller one
  }

  /// Optimizer steps left in the epoch: the same on every rank.
  std::int64_t steps() const { return ceil_divide(remaining(), options_.global_batch); }

  /// Step `k`, 0 <= k < steps(), counted from the starting position.
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

  /// Micro-batches left in the epoch on this dp shard.
  std::int64_t size() const { return size_; }

  /// Micro-batch `i`, 0 <= i < size(), counted over all steps of step().
  micro_batch operator[](std::int64_t i) const {
    std::int64_t const k = i / micro_per_step_;
    std::int64_t const index = i % micro_per_step_;
    batch_step const at = step(k);
    std::int64_t const begin = at.local.begin + index * options_.micro_batch;
    std::int64_t const end = std::min(begin + options_.micro_batch, at.local.end);
    micro_batch result{k, index, begin - at.global.begin, {}};
    result.examples.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t place = begin; place < end; ++place) result.examples.push_back(sampler_.at(from_.epoch, place));
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

}  // namespace redco
