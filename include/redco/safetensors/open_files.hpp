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

/// The safetensors files of a directory. Each is opened, and its header read, once: when the first asks for it. The
/// threads of a process share them.
class open_files {
 public:
  explicit open_files(std::filesystem::path directory, diag::links policy = diag::links::followed)
      : directory_(std::move(directory)), policy_(policy) {}

  std::filesystem::path const& directory() const { return directory_; }

  /// The file of that name. Errors: those of `safetensors_reader`.
  safetensors_reader const& operator[](std::string const& name) const {
    std::lock_guard const lock(mutex_);
    return files_.try_emplace(name, directory_ / name, policy_).first->second;
  }

  /// Bytes that were read of all files up to now.
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
