#pragma once

#include <redco/comm/lane.hpp>
#include <redco/comm/replica_round.hpp>

#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/random/stream.hpp>
#include <redco/shape/product_runs.hpp>
#include <redco/shape/recomputed_blocks.hpp>

#include <redco/tensor/graph_recording.hpp>

#include <cstdint>

namespace redco {

class key_value_cache;
class layer_watch;
class parameter_watch;

/// A pass: the settings of one rank's forward call on a micro-batch, such as the group of shards,
/// training or evaluation, and the coordinates that key random numbers. Made by training_pass,
/// evaluation_pass and decoding_pass; `with_examples` adds the micro-batch:
///
///   pass const in = training_pass(rank, seed, step).with_examples(first, count);
///   at::Tensor const y = bound_network<M>(net, in)(x);
struct pass {
  group* tp = nullptr;
  rank_context const* rank = nullptr;  ///< Groups of this rank over other axes
  comm::replica_round round = {};
  bool training = false;
  /// Blocks of each `repeat` that save only their input and run again in backward.
  recomputed_blocks recompute = {};
  /// True to compare the tensors that autograd saves in the first call with the layers'
  /// declarations.
  bool check_saved = false;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< Number of the optimizer step
  /// Index of the micro-batch's first example in the step's global batch.
  std::int64_t first_example = 0;
  /// Number of examples in the micro-batch; 0 if each row is an example.
  std::int64_t examples = 0;
  key_value_cache* cache = nullptr;  ///< Keys and values of earlier positions, for decoding
  parameter_watch* watch = nullptr;  ///< Observer of each use of a parameter
  layer_watch* layers = nullptr;     ///< Observer of each layer's input and output
  /// Lane (communication thread) for exchanges between shards that overlap products; null: no
  /// overlap.
  comm::lane* shard_lane = nullptr;
  mutable std::uint32_t calls = 0;  ///< Number of calls of the network in this micro-batch so far

  /// Returns this pass for a micro-batch of `count` examples. `first` is the index of the first
  /// example in the step's global batch.
  pass with_examples(std::int64_t first, std::int64_t count) const {
    pass other = *this;
    other.first_example = first;
    other.examples = count;
    return other;
  }

  /// Returns this pass in a round of micro-batches, one on each replica. Layers such as batch norm
  /// sum over the round.
  pass with_round(comm::replica_round const& now) const {
    pass other = *this;
    other.round = now;
    return other;
  }

  /// Returns the random stream of a site in call number `call` of the network. Throws `error` with
  /// exit code 64 while a device graph is recorded.
  random::stream at(std::uint32_t site, std::uint32_t call) const {
    graph_recording::refuse_random_numbers();
    return random::make_stream(seed, site, step, call);
  }

  /// Returns true if a message of `rows` rows of `row_bytes` bytes can overlap the product that
  /// makes or reads it, and is large enough to be worth it. Products of few rows use other kernels
  /// (see kernel::linear), so they are not cut.
  bool beside_shards(std::int64_t rows, std::int64_t row_bytes) const {
    return shard_lane != nullptr && rows >= product_runs::least_rows && rows * row_bytes >= shard_lane->least_bytes;
  }

  /// Returns the global index of the first of `rows` rows: first example x rows per example.
  std::int64_t first_row(std::int64_t rows) const {
    return examples > 0 ? first_example * (rows / examples) : first_example;
  }
};

/// The options of a pass that do not change its numbers.
struct pass_choices {
  recomputed_blocks recompute = {};
  bool check_saved = false;
  comm::lane* shard_lane = nullptr;
};

/// Returns a training pass for step `step`. Batch statistics are those of all replicas, and random
/// numbers are keyed by `seed`.
inline pass training_pass(rank_context const& rank, std::uint64_t seed = 0, std::int64_t step = 0,
                          pass_choices const& choices = {}) {
  return {.tp = &rank.tp,
          .rank = &rank,
          .round = {&rank.group(batch_axes)},
          .training = true,
          .recompute = choices.recompute,
          .check_saved = choices.check_saved,
          .seed = seed,
          .step = static_cast<std::uint64_t>(step),
          .shard_lane = choices.shard_lane};
}

/// Returns an evaluation pass: without dropout, and with the running statistics that training kept.
inline pass evaluation_pass(rank_context const& rank, std::uint64_t seed = 0, std::int64_t step = 0,
                            pass_choices const& choices = {}) {
  pass in = training_pass(rank, seed, step, choices);
  in.training = false;
  return in;
}

/// Returns a copy of `of` for decoding: without dropout. Attention reads keys and values of earlier
/// positions from `cache` and appends its own.
inline pass decoding_pass(pass const& of, key_value_cache& cache) {
  pass decoder = of;
  decoder.training = false;
  decoder.cache = &cache;
  return decoder;
}

}  // namespace redco
