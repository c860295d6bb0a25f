#pragma once

#include <redco/safetensors/file_ops.hpp>

#include <filesystem>
#include <system_error>

namespace redco::workdir::detail {

/// Creates the folder `folder` with its missing parents, and makes their names durable, so that a
/// power cut does not lose the whole folder. Returns the error of the creation. Ignores failed
/// syncs, because a process may write into a folder whose parent it cannot open.
template <safetensors::file_ops Ops>
std::error_code make_durable_folder(Ops& ops, std::filesystem::path const& folder) {
  std::error_code failed, unknown;
  int missing = 0;
  for (auto at = std::filesystem::absolute(folder, unknown);
       at.has_relative_path() && !std::filesystem::exists(at, unknown); at = at.parent_path())
    ++missing;
  std::filesystem::create_directories(folder, failed);
  if (failed) return failed;
  auto at = std::filesystem::canonical(folder, unknown);
  // The name of the folder itself is synced even if an earlier process has made the folder.
  for (int level = 0; level <= missing && at.has_relative_path(); ++level) {
    at = at.parent_path();
    ops.sync_directory(at.c_str());
  }
  return {};
}

}  // namespace redco::workdir::detail
