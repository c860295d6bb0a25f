#pragma once

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>

namespace redco::workdir {

/// What is asked of a workdir before a run works for hours.
struct checkpoint_room {
  /// Errors: exit code 64 where `<workdir>/ckpts` is there and no folder, nor a link to one.
  static void check_folder(std::filesystem::path const& workdir);

  /// Errors: exit code 74 where `available` bytes cannot take one checkpoint of `bytes`.
  static void check_space(std::filesystem::path const& workdir, std::uintmax_t bytes, std::uintmax_t available);

  /// Bytes that a file in the folder may have; the most there are where the system does not tell.
  static std::uintmax_t available(std::filesystem::path const& workdir);
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/checkpoint_room.inl.hpp>
#endif
