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

/// What one rank's forward pass of a micro-batch is about: the group its shards talk over, train or evaluation, and the
/// coordinates that key its random numbers.
struct pass {
  group* tp = nullptr;
  rank_context const* rank = nullptr;  ///< has the groups over other axes
  comm::replica_round round = {};
  bool training = false;
  recomputed_blocks recompute = {};  ///< of each repeat: which save only their input and run again in backward
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

  /// The stream of a site in the network's current call. Throws `error` with exit code 64 while a device graph is recorded.
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

}  // namespace redco
