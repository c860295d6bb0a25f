#pragma once

#include <redco/workdir/manifest.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco::workdir {

/// What is saved besides the tensors, and what happens to older checkpoints.
struct save_options {
  std::filesystem::path workdir;        ///< the checkpoint becomes `<workdir>/ckpts/step_<s>`
  manifest facts;                       ///< run, step, epoch, mesh, ...; `tensors` and `files` are filled in by saving
  std::vector<std::string> pointers{};  ///< names besides `last` for it: epoch_3, min_loss, max_accuracy
  int keep_last = 0;                    ///< how many of this run's checkpoints stay, besides those with a name; 0: all
};

}  // namespace redco::workdir
