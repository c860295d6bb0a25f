#pragma once

#include <redco/workdir/manifest.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco::workdir {

/// A set of options for a save: the data besides the tensors, and the number of older checkpoints
/// to keep.
struct save_options {
  std::filesystem::path workdir;  ///< folder: the checkpoint becomes `<workdir>/ckpts/step_<s>`
  /// Facts about the run: run, step, epoch, mesh, ... The save fills in `tensors` and `files`.
  manifest facts;
  /// Names besides `last` that point to the checkpoint: epoch_3, min_loss, max_accuracy.
  std::vector<std::string> pointers{};
  /// Number of this run's checkpoints to keep, besides those with a name; 0 keeps all.
  int keep_last = 0;
};

}  // namespace redco::workdir
