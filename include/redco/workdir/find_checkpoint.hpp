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

/// A complete checkpoint: where it is and what it says of itself.
struct found_checkpoint {
  std::filesystem::path directory;
  manifest facts;
};

/// How a checkpoint is looked for.
struct find_options {
  bool verify = true;      ///< read every byte and compare the hashes, not only names, sizes and headers
  bool quarantine = true;  ///< rename a damaged checkpoint to `.corrupt-...`; only for who holds the workdir_lock
  std::function<void(std::string const&)> warn = [](std::string const& text) {
    std::cerr << "redco: warning: " << text << std::endl;
  };
};

/// The checkpoint that a run continues from: `resume` is "none", "auto" (the newest complete one of the current run in
/// `workdir`; nothing when it never saved one), or the path of a checkpoint, of a pointer to one or of a working
/// directory.
///
/// With "auto" a damaged checkpoint is put aside and the one before is taken, with a warning; a run that has saved
/// never starts from scratch. A path is taken as it is or refused. For one process, which then tells the others what it
/// found. Errors: 65 when none is complete or the path names none; 74 when the system cannot read.
std::optional<found_checkpoint> find_checkpoint(std::filesystem::path const& workdir, std::string_view resume,
                                                find_options const& options = {});

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/find_checkpoint.inl.hpp>
#endif
