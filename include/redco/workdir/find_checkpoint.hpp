#pragma once

#include <redco/workdir/manifest.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::workdir {

/// A complete checkpoint: its folder and its manifest.
struct found_checkpoint {
  std::filesystem::path directory;
  manifest facts;
};

/// Options of find_checkpoint().
struct find_options {
  /// True to compare the hashes of all files, in addition to names, sizes and headers.
  bool verify = true;
  /// True to rename a damaged checkpoint to `.corrupt-...`. Only the process that holds the
  /// workdir_lock may set this to true.
  bool quarantine = true;
  /// True for the start of a run. A path then begins a branch of the run at its checkpoint, or
  /// continues the branch in the workdir that an earlier start with this path has begun. The
  /// manifest in the result records the beginning of the branch.
  bool branches = false;
  /// Further check of a checkpoint that is complete so far. Throws `error` with exit code 65 if the
  /// checkpoint is damaged.
  std::function<void(found_checkpoint const&)> also_check = {};
  std::function<void(std::string const&)> warn = [](std::string const& text) {
    std::cerr << "redco: warning: " << text << std::endl;
  };
};

/// Returns the checkpoint from which a run continues, or nothing for a new run. `resume` is "none",
/// "auto", or a path of a checkpoint, of a link to one, or of a workdir. With "auto", takes the
/// newest complete checkpoint of the current run in `workdir`. With "auto", a damaged checkpoint is
/// renamed with a warning, and the previous one is tried. Only one process calls this function and
/// sends the result to the others. Throws `error` with exit code 65 if checkpoints exist but none
/// is complete, or 74 if the system cannot read.
std::optional<found_checkpoint> find_checkpoint(std::filesystem::path const& workdir, std::string_view resume,
                                                find_options const& options = {});

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/find_checkpoint.inl.hpp>
#endif
