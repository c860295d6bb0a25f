#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

/// A temporary path that no other process uses: the same tests of two build trees run side by side.
inline std::filesystem::path own_path(std::string const& name) {
  return std::filesystem::temp_directory_path() / ("redco-" + std::to_string(::getpid()) + "-" + name);
}
