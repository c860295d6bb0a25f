#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace redco::workdir {

/// A set of checks, made before training starts, that a workdir can hold the checkpoints.
struct checkpoint_room {
  /// Throws `error` with exit code 64 if `<workdir>/ckpts` exists and is neither a folder nor a
  /// link to a folder.
  static void check_folder(std::filesystem::path const& workdir);

  /// Throws `error` with exit code 74 if `available` bytes are too few for one checkpoint of
  /// `bytes` bytes.
  static void check_space(std::filesystem::path const& workdir, std::uintmax_t bytes, std::uintmax_t available);

  /// Returns a warning if `available` bytes are too few for the checkpoints of a run, else an empty
  /// text. The run keeps `kept` more checkpoints of `bytes` bytes, and writes one more before it
  /// removes an older one.
  static std::string warning(std::filesystem::path const& workdir, std::uintmax_t bytes, std::int64_t kept,
                             std::uintmax_t available);

  /// Returns the number of free bytes in the file system of the folder `workdir`. Returns the
  /// largest number if the system does not report it.
  static std::uintmax_t available(std::filesystem::path const& workdir);
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/checkpoint_room.inl.hpp>
#endif
