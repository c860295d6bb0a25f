#pragma once

#include <redco/safetensors/tensor_table.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco::workdir {

/// What `manifest.json` says about a checkpoint (format 2). Keys may be added to the format, none renamed. Format 1, of
/// redco before its first release, has neither names nor configuration nor a hash of itself.
struct manifest {
  struct file_facts {
    std::uint64_t bytes = 0;
    std::uint64_t xxh64 = 0;
    friend bool operator==(file_facts const&, file_facts const&) = default;
  };
  struct best_value {
    double value = 0;       ///< finite
    std::int64_t step = 0;  ///< after which it was measured
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
    std::string metric = {};  ///< the checkpoint name of the metric that decides: min_loss; empty: none does
    std::int64_t stale = 0;   ///< evaluations since that metric was best
    friend bool operator==(patience_facts const&, patience_facts const&) = default;
  };

  /// The newest format that this library reads and the one that it writes.
  static constexpr std::int64_t newest_format = 2;

  std::int64_t format = newest_format;
  std::string redco = "0.1.0";  ///< the version that wrote it
  std::string run;              ///< one id for a run and all its resumptions: a plain name
  std::int64_t step = 0;        ///< optimizer updates done
  std::int64_t epoch = 0;
  std::int64_t epoch_position = 0;  ///< examples of this epoch that all ranks together have used
  redco::mesh mesh;                 ///< that saved; any other may load
  random_facts rng;
  data_facts data;
  std::map<std::string, best_value> best;
  patience_facts patience;
  bool interrupted = false;                     ///< a signal came before the evaluation that the step asks for
  std::map<std::string, std::int64_t> updates;  ///< of each network's parameters: steps without weight are none
  std::vector<std::string> names;               ///< that it was saved under besides `last`: epoch_3, min_loss
  std::map<std::string, std::string> config;    ///< what the run was told, by name: "optimizer.lr" is "0.001"
  safetensors::tensor_table tensors;
  std::map<std::string, file_facts> files;

  friend bool operator==(manifest const&, manifest const&) = default;
};

}  // namespace redco::workdir
