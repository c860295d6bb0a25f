#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>

namespace redco::workdir {

/// A set of checks of a working directory before a run starts hours of work.
struct checkpoint_room {
  /// Throws `error` with exit code 64 if `<workdir>/ckpts` exists and is neither a folder nor a
  /// link to a folder.
  static void check_folder(std::filesystem::path const& workdir);

  /// Throws `error` with exit code 74 if `available` bytes are too few for one checkpoint of
  /// `bytes` bytes.
  static void check_space(std::filesystem::path const& workdir, std::uintmax_t bytes, std::uintmax_t available);

  /// Returns the free bytes of the folder's file system, or the largest number if the system does
  /// not report them.
  static std::uintmax_t available(std::filesystem::path const& workdir);
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/checkpoint_room.inl.hpp>
#endif
