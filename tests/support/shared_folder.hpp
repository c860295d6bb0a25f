#pragma once

#include <cstdlib>
#include <filesystem>

/// Returns the folder of reference data outside the repository: $REDCO_SHARED, else ../shared
/// relative to the sources.
inline std::filesystem::path shared_folder() {
  if (char const* folder = std::getenv("REDCO_SHARED")) return folder;
  return std::filesystem::path(__FILE__).parent_path() / ".." / ".." / ".." / "shared";
}
