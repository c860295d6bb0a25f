#pragma once

#include <redco/workdir/manifest.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco::workdir {

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
};

}  // namespace redco::workdir
