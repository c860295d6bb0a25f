#pragma once

#include <redco/workdir/open_weights.hpp>

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace redco::workdir {

/// Model weights in files, shared by all ranks of a process. The first rank that needs the weights
/// opens the files.
class shared_weights {
 public:
  explicit shared_weights(std::filesystem::path path) : path_(std::move(path)) {}

  /// Opens the files on the first call, and returns the weights. Any thread may call it. Throws the
  /// errors of open_weights().
  safetensors::weights_source const& open() const {
    std::lock_guard const lock(mutex_);
    if (!source_) source_ = open_weights(path_);
    return *source_;
  }

 private:
  std::filesystem::path path_;
  mutable std::mutex mutex_;
  mutable std::optional<safetensors::weights_source> source_;
};

}  // namespace redco::workdir
