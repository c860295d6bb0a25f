#pragma once

#include <redco/safetensors/tensor_table.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco::workdir {

/// A description of a checkpoint, the content of `manifest.json` (format 2). Future versions may
/// add keys to the format, but rename none. Format 1, written before the first release of redco,
/// has no names, no configuration, and no hash of itself.
struct manifest {
  struct file_facts {
    std::uint64_t bytes = 0;
    std::uint64_t xxh64 = 0;
    friend bool operator==(file_facts const&, file_facts const&) = default;
  };
  struct best_value {
    double value = 0;       ///< value, always finite
    std::int64_t step = 0;  ///< step after which it was measured
    template <class Archive>
    void serialize(Archive& archive) {
      archive(value, step);
    }
    friend bool operator==(best_value const&, best_value const&) = default;
  };
  struct random_facts {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    friend bool operator==(random_facts const&, random_facts const&) = default;
  };
  struct data_facts {
    std::uint64_t seed = 0;
    std::int64_t examples = 0;
    friend bool operator==(data_facts const&, data_facts const&) = default;
  };
  struct patience_facts {
    /// Checkpoint name of the metric that decides early stopping, such as "min_loss"; empty if none
    /// does.
    std::string metric = {};
    std::int64_t stale = 0;  ///< evaluations since that metric was best
    friend bool operator==(patience_facts const&, patience_facts const&) = default;
  };

  /// Newest format that this library can read, and the format that it writes.
  static constexpr std::int64_t newest_format = 2;

  std::int64_t format = newest_format;
  std::string redco = "0.1.0";  ///< version of redco that wrote the checkpoint
  /// Id of the run, shared by all its resumptions: a plain file name.
  std::string run;
  std::int64_t step = 0;  ///< number of optimizer updates done
  std::int64_t epoch = 0;
  /// Number of examples of this epoch that all ranks together have used.
  std::int64_t epoch_position = 0;
  redco::mesh mesh;  ///< mesh that saved; any other may load
  random_facts rng;
  data_facts data;
  std::map<std::string, best_value> best;
  patience_facts patience;
  /// True if a signal came before the evaluation that is due after this step.
  bool interrupted = false;
  /// Number of updates of each network's parameters; steps without weight do not count.
  std::map<std::string, std::int64_t> updates;
  /// Names besides `last` under which the checkpoint was saved: epoch_3, min_loss.
  std::vector<std::string> names;
  /// Settings of the run by name: "optimizer.lr" is "0.001".
  std::map<std::string, std::string> config;
  safetensors::tensor_table tensors;
  std::map<std::string, file_facts> files;

  friend bool operator==(manifest const&, manifest const&) = default;
};

}  // namespace redco::workdir
