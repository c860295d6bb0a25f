#pragma once

#include <redco/workdir/checkpoint_room.hpp>

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/config.hpp>

#include <limits>
#include <string>
#include <system_error>

namespace redco::workdir {

REDCO_INLINE void checkpoint_room::check_folder(std::filesystem::path const& workdir) {
  std::filesystem::path const folder = workdir / checkpoint_names::folder;
  std::error_code none;
  auto const there = std::filesystem::symlink_status(folder, none);
  if (!std::filesystem::exists(there) || std::filesystem::is_directory(folder, none)) return;
  throw error(exit_code::usage,
              folder.string() +
                  (std::filesystem::is_symlink(there) ? " is a link to no folder" : " is a file, no folder") +
                  ", so no checkpoint can be saved in it. Remove it, or choose another --workdir.");
}

REDCO_INLINE void checkpoint_room::check_space(std::filesystem::path const& workdir, std::uintmax_t bytes,
                                               std::uintmax_t available) {
  if (bytes <= available) return;
  throw error(exit_code::io, "a checkpoint of this run has " + std::to_string(bytes) + " bytes, and " +
                                 workdir.string() + " has room for " + std::to_string(available) +
                                 ". Free some space, or choose another --workdir.");
}

REDCO_INLINE std::string checkpoint_room::warning(std::filesystem::path const& workdir, std::uintmax_t bytes,
                                                  std::int64_t kept, std::uintmax_t available) {
  std::uintmax_t const fit = bytes == 0 ? std::numeric_limits<std::uintmax_t>::max() : available / bytes;
  if (static_cast<std::uintmax_t>(kept) < fit) return {};
  return "the options keep up to " + std::to_string(kept) + " more checkpoints of " + std::to_string(bytes) +
         " bytes, one more is written before an older one is removed, and " + workdir.string() + " has room for " +
         std::to_string(fit) + ": free some space, or keep fewer (keep_last, save_every_epochs, save_argmin)";
}

REDCO_INLINE std::uintmax_t checkpoint_room::available(std::filesystem::path const& workdir) {
  std::error_code unknown;
  auto const space = std::filesystem::space(workdir, unknown);
  return unknown ? std::numeric_limits<std::uintmax_t>::max() : space.available;
}

}  // namespace redco::workdir
