#pragma once

#include <redco/workdir/disk_limits.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/shape/mesh.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace redco::workdir {

/// The content of a checkpoint's file `manifest.json` (format 2), which describes the checkpoint.
/// Later versions of the format may add keys, but do not rename keys. Format 1, written before the
/// first release of redco, lacks checkpoint names, settings, and the hash of the file itself.
struct manifest {
  struct file_facts {
    std::uint64_t bytes = 0;
    std::uint64_t xxh64 = 0;
    friend bool operator==(file_facts const&, file_facts const&) = default;
  };
  struct best_value {
    double value = 0;       ///< best value of the metric, always finite
    std::int64_t step = 0;  ///< number of steps before the evaluation that gave the value
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
  struct branch_facts {
    /// Path that --resume named when the branch began, as branch_path() returns it; empty for a run
    /// that began at step 0.
    std::string path = {};
    std::int64_t step = 0;  ///< step of the checkpoint at `path` when the branch began
    friend bool operator==(branch_facts const&, branch_facts const&) = default;
  };
  struct patience_facts {
    /// Checkpoint name, such as "min_loss", of the metric by which a fit stops early; empty if no
    /// metric has a best checkpoint.
    std::string metric = {};
    std::int64_t stale = 0;  ///< number of evaluations since `metric` last improved
    friend bool operator==(patience_facts const&, patience_facts const&) = default;
  };

  /// Number of the format that this library writes, and the newest format that it can read.
  static constexpr std::int64_t newest_format = 2;

  std::int64_t format = newest_format;
  std::string redco = "0.1.0";  ///< version of redco that wrote the checkpoint
  /// Id of the run, a plain file name; a resumed run keeps its id.
  std::string run;
  std::int64_t step = 0;  ///< number of steps that the run has done
  /// Beginning of the branch of the run: the checkpoint that a start with --resume PATH named.
  branch_facts branch;
  std::int64_t epoch = 0;
  /// Number of examples of the current epoch that all ranks together have used.
  std::int64_t epoch_position = 0;
  redco::mesh mesh;  ///< mesh of the run that saved the checkpoint
  random_facts rng;
  data_facts data;
  std::map<std::string, best_value> best;
  patience_facts patience;
  /// True if a signal ended the run before the evaluation that is due after this step.
  bool interrupted = false;
  /// Number of updates of each network by its name. Steps in which no token or example counted do
  /// not count.
  std::map<std::string, std::int64_t> updates;
  /// Names of the links to the checkpoint besides `last`, such as epoch_3 or min_loss.
  std::vector<std::string> names;
  /// Digests of what the run reads by name: "training examples", "evaluation examples" and "program
  /// file".
  std::map<std::string, std::string> digests;
  /// Settings of the run by name, such as "optimizer.lr" with the value "0.001".
  std::map<std::string, std::string> config;
  safetensors::tensor_table tensors;
  std::map<std::string, file_facts> files;

  friend bool operator==(manifest const&, manifest const&) = default;
};

class retention;
class workdir_lock;

/// Options of save_checkpoint: the content of the manifest, the links to set, and the number of
/// older checkpoints to keep.
struct save_options {
  /// Folder of the run: the checkpoint is `<workdir>/ckpts/step_<s>`.
  std::filesystem::path workdir;
  /// Manifest of the checkpoint: run, step, epoch, mesh, ... The save fills in its `tensors` and
  /// `files`.
  manifest facts;
  /// Names of links to the checkpoint besides `last`, such as epoch_3, min_loss or max_accuracy.
  std::vector<std::string> pointers{};
  /// Number of this run's newest checkpoints to keep, in addition to those with a link; 0 keeps
  /// all.
  int keep_last = 0;
  /// Lock of the workdir, which rank 0 checks before it changes checkpoints; null on other ranks
  /// and without a lock.
  workdir_lock const* lock = nullptr;
  /// Memory of the run's earlier saves on rank 0; null on other ranks. Without it, each save reads
  /// all manifests, and deletes old checkpoints before it returns.
  retention* kept = nullptr;
  disk_limits disk = {};
};

}  // namespace redco::workdir
