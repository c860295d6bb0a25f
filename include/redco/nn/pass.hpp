#pragma once

#include <redco/comm/lane.hpp>
#include <redco/comm/replica_round.hpp>

#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/random/stream.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/pieces.hpp>
#include <redco/shape/sequence_part.hpp>

#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::nn {

class key_value_cache;
class layer_watch;
class parameter_watch;
class routing_record;
class stage_link;
class value_source;

}  // namespace redco::nn

namespace redco {

/// A pass: the settings of one rank's forward call on a micro-batch, such as groups of ranks,
/// training or evaluation, and the numbers that key random streams. Created by training_pass,
/// evaluation_pass and decoding_pass; `with_examples` adds the micro-batch:
///
/// pass const in = training_pass(rank, seed, step).with_examples(first, count);
/// at::Tensor const y = bound_network<M>(net, in)(x);
struct pass {
  comm::group* tp = nullptr;
  /// Group of the ranks that compute parts of the same sequences; null if each computes them whole
  comm::group* cp = nullptr;
  /// Groups of this rank over all mesh axes; null if not needed
  rank_context const* rank = nullptr;
  comm::replica_round round = {};
  bool training = false;
  /// Blocks of each `repeat` that save only their input in forward and are recomputed in backward
  recomputed_blocks recompute = {};
  /// True to compare, in the first call, the tensors that autograd saves with the saved tensors
  /// that the layers declare (option --check-saved).
  bool check_saved = false;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< Number of the optimizer step, which keys random numbers
  /// Index of the micro-batch's first example within the step's global batch
  std::int64_t first_example = 0;
  /// Number of examples in the micro-batch; 0: each row of a tensor is an example
  std::int64_t examples = 0;
  /// Keys and values of earlier positions; null except in decoding
  nn::key_value_cache* cache = nullptr;
  /// Tokens of each sequence that this rank computes, in a call that divides sequences over `cp`
  shape::sequence_part tokens = {};
  /// Positions of these tokens, int64 [B or 1, t]; 0 for padding
  at::Tensor positions = {};
  /// Mask of the call's tokens that are no padding, bool [B, S], for S tokens so far; undefined: no
  /// token is padding
  at::Tensor real = {};
  /// Number of tokens of each token's text, int64 [B, T or 1], for layers that depend on it; if
  /// undefined, a row is one text. `own_text_lengths` has those of this rank's tokens.
  at::Tensor text_lengths = {}, own_text_lengths = {};
  nn::parameter_watch* watch = nullptr;  ///< Observer of each use of a parameter; may be null
  nn::layer_watch* layers = nullptr;     ///< Observer of each layer's input and output; may be null
  /// Record of the experts that routers choose, or whose experts they take; may be null
  nn::routing_record* routing = nullptr;
  /// Connection to other pipeline stages; null if this rank runs the whole network, and in blocks
  nn::stage_link* stage = nullptr;
  /// Object that gathers the values of each block before use; null if they are in memory, and in
  /// blocks
  nn::value_source* values = nullptr;
  /// Lane (communication thread) that exchanges data between shards while products are computed;
  /// null: communication does not overlap products.
  comm::lane* shard_lane = nullptr;
  /// Number of calls of the network in this micro-batch so far, which keys random numbers
  mutable std::uint32_t calls = 0;

  /// Returns a copy of this pass for a micro-batch of `count` examples. `first` is the index of its
  /// first example within the step's global batch.
  pass with_examples(std::int64_t first, std::int64_t count) const {
    pass other = *this;
    other.first_example = first;
    other.examples = count;
    return other;
  }

  /// Returns a copy of this pass for the round `now`: micro-batches that all replicas compute
  /// concurrently. Layers such as batch norm sum statistics over the round.
  pass with_round(comm::replica_round const& now) const {
    pass other = *this;
    other.round = now;
    return other;
  }

  /// Returns the stream of random numbers of one layer (with number `site`) in the network's call
  /// number `call`. Throws `error` with exit code 64 while a device graph is recorded.
  random::stream at(std::uint32_t site, std::uint32_t call) const {
    tensors::graph_recording::refuse_random_numbers();
    return random::make_stream(seed, site, step, call);
  }

  /// Returns true if sending `rows` rows of `row_bytes` bytes between shards should overlap the
  /// product that computes or reads them. The pass must have a lane (communication thread), and the
  /// message must be large enough. Products of few rows use other kernels (see kernel::linear), so
  /// they are not cut.
  bool is_worth_overlapping(std::int64_t rows, std::int64_t row_bytes) const {
    return shard_lane != nullptr && rows >= shape::product_runs::min_rows && rows * row_bytes >= shard_lane->min_bytes;
  }

  /// Returns the index, in the step's global batch, of the first of `rows` rows: first example *
  /// rows per example. Packed rows hold several examples each; then the index is approximate.
  std::int64_t first_row(std::int64_t rows) const {
    return examples > 0 ? first_example * rows / examples : first_example;
  }
};

}  // namespace redco

namespace redco::nn {

/// The settings of a pass that do not change its results.
struct pass_choices {
  recomputed_blocks recompute = {};
  bool check_saved = false;
  comm::lane* shard_lane = nullptr;
};

/// Returns the settings of a training call in step `step`. Layers such as batch norm take
/// statistics over all replicas. Random numbers are keyed by `seed` and `step`.
inline pass training_pass(rank_context const& rank, std::uint64_t seed = 0, std::int64_t step = 0,
                          pass_choices const& choices = {}) {
  return {.tp = &rank.tp,
          .cp = rank.mesh.cp > 1 ? &rank.group(shape::axis::cp) : nullptr,
          .rank = &rank,
          .round = {&rank.group(shape::batch_axes)},
          .training = true,
          .recompute = choices.recompute,
          .check_saved = choices.check_saved,
          .seed = seed,
          .step = static_cast<std::uint64_t>(step),
          .shard_lane = choices.shard_lane};
}

/// Returns the settings of an evaluation call: no dropout, and normalisation by the running
/// statistics of training.
inline pass evaluation_pass(rank_context const& rank, std::uint64_t seed = 0, std::int64_t step = 0,
                            pass_choices const& choices = {}) {
  pass in = training_pass(rank, seed, step, choices);
  in.training = false;
  return in;
}

/// Returns a copy of the pass `of` for decoding, without dropout. Attention layers read keys and
/// values of earlier positions from `cache` and append new ones. Each rank along the mesh axis cp
/// computes all tokens.
inline pass decoding_pass(pass const& of, key_value_cache& cache) {
  pass decoder = of;
  decoder.training = false;
  decoder.cp = nullptr;
  decoder.cache = &cache;
  return decoder;
}

}  // namespace redco::nn
