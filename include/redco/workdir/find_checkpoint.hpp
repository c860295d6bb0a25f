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

/// A complete checkpoint: its directory and its manifest.
struct found_checkpoint {
  std::filesystem::path directory;
  manifest facts;
};

/// A set of options for find_checkpoint().
struct find_options {
  /// True to read every byte and compare hashes, in addition to names, sizes and headers.
  bool verify = true;
  /// True to rename a damaged checkpoint to `.corrupt-...`. Only the holder of the workdir_lock may
  /// set this.
  bool quarantine = true;
  std::function<void(std::string const&)> warn = [](std::string const& text) {
    std::cerr << "redco: warning: " << text << std::endl;
  };
};

/// Returns the checkpoint from which a run continues. `resume` is "none", "auto", or the path of a
/// checkpoint, of a pointer or of a working directory. With "auto", returns the newest complete
/// checkpoint of the current run in `workdir`, or nothing if none was ever saved. With "auto", a
/// damaged checkpoint is set aside with a warning and the previous one is tried. A path is used or
/// refused. Only one process calls this function and sends the result to the others. Throws `error`
/// with exit code 65 if no checkpoint is complete, or 74 if the system cannot read.
std::optional<found_checkpoint> find_checkpoint(std::filesystem::path const& workdir, std::string_view resume,
                                                find_options const& options = {});

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/find_checkpoint.inl.hpp>
#endif
