#pragma once

#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/diag/input_file.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace redco::safetensors {

/// A set of the safetensors files in a directory. Each file is opened, and its header read, only
/// once: when it is first requested. All threads of a process may share one set.
class open_files {
 public:
  explicit open_files(std::filesystem::path directory, diag::links policy = diag::links::followed)
      : directory_(std::move(directory)), policy_(policy) {}

  std::filesystem::path const& directory() const { return directory_; }

  /// Returns a reader of the file with this name. Opens the file at the first call. Throws the
  /// errors of the constructor of safetensors_reader.
  safetensors_reader const& operator[](std::string const& name) const {
    std::lock_guard const lock(mutex_);
    return files_.try_emplace(name, directory_ / name, policy_).first->second;
  }

  /// Returns the number of bytes read so far from all safetensors files of this set.
  std::uint64_t bytes_read() const {
    std::lock_guard const lock(mutex_);
    std::uint64_t sum = 0;
    for (auto const& [name, file] : files_) sum += file.bytes_read();
    return sum;
  }

 private:
  std::filesystem::path directory_;
  diag::links policy_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, safetensors_reader> files_;
};

}  // namespace redco::safetensors
