#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

/// A folder of this process, which the destructor removes.
struct temporary_folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("redco-bench-" + std::to_string(::getpid()));

  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
