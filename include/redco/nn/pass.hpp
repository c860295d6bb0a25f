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

/// One rank's forward pass of a micro-batch: the group its shards talk over, training or
/// evaluation, and the coordinates that key its random numbers. Made by training_pass,
/// evaluation_pass and decoding_pass, and told its examples by `with_examples`:
///
///   pass const in = training_pass(rank, seed, step).with_examples(first, count);
///   at::Tensor const y = bound_network<M>(net, in)(x);
struct pass {
  group* tp = nullptr;
  rank_context const* rank = nullptr;  ///< has the groups over other axes
  comm::replica_round round = {};
  bool training = false;
  recomputed_blocks recompute = {};  ///< blocks of each repeat that save only their input and run again in backward
  bool check_saved = false;          ///< compare what autograd saves in the first call with what the layers declare
  std::uint64_t seed = 0;
  std::uint64_t step = 0;            ///< optimizer update
  std::int64_t first_example = 0;    ///< of the micro-batch, within the step's global batch
  std::int64_t examples = 0;         ///< in the micro-batch; 0: rows are examples
  key_value_cache* cache = nullptr;  ///< decoding: keys and values of earlier positions
  parameter_watch* watch = nullptr;  ///< sees each use of a parameter
  layer_watch* layers = nullptr;     ///< sees what each layer takes and gives
  comm::lane* shard_lane = nullptr;  ///< sends what shards exchange beside their products; null: between them
  mutable std::uint32_t calls = 0;   ///< how often the network ran in this micro-batch

  /// Returns this pass for a micro-batch of `count` examples; `first` is the number of the first
  /// one in the step's global batch.
  pass with_examples(std::int64_t first, std::int64_t count) const {
    pass other = *this;
    other.first_example = first;
    other.examples = count;
    return other;
  }

  /// Returns this pass in a round of micro-batches, over which layers sum what they ask of the
  /// whole batch.
  pass with_round(comm::replica_round const& now) const {
    pass other = *this;
    other.round = now;
    return other;
  }

  /// The stream of a site in the network's current call. Throws `error` with exit code 64 while a
  /// device graph is recorded.
  random::stream at(std::uint32_t site, std::uint32_t call) const {
    graph_recording::refuse_random_numbers();
    return random::make_stream(seed, site, step, call);
  }

  /// Whether a message of so many rows can pass beside the product that gives or takes it, and is worth it: few rows take other kernels
  /// (see kernel::linear).
  bool beside_shards(std::int64_t rows, std::int64_t row_bytes) const {
    return shard_lane != nullptr && rows >= product_runs::least_rows && rows * row_bytes >= shard_lane->least_bytes;
  }

  /// The global number of the first of `rows` rows: first example x rows per example.
  std::int64_t first_row(std::int64_t rows) const {
    return examples > 0 ? first_example * (rows / examples) : first_example;
  }
};

/// Choices that change no number of a pass.
struct pass_choices {
  recomputed_blocks recompute = {};
  bool check_saved = false;
  comm::lane* shard_lane = nullptr;
};

/// Returns a training pass of step `step` of a run: batch statistics are those of all replicas,
/// random numbers are keyed by `seed`.
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

/// Returns a pass without dropout and with the statistics that training kept.
inline pass evaluation_pass(rank_context const& rank, std::uint64_t seed = 0, std::int64_t step = 0,
                            pass_choices const& choices = {}) {
  pass in = training_pass(rank, seed, step, choices);
  in.training = false;
  return in;
}

/// Returns `of` as a pass without dropout that reads keys and values of earlier positions from
/// `cache` and appends its own.
inline pass decoding_pass(pass const& of, key_value_cache& cache) {
  pass decoder = of;
  decoder.training = false;
  decoder.cache = &cache;
  return decoder;
}

}  // namespace redco
