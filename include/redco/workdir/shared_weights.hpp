#pragma once

#include <redco/workdir/open_weights.hpp>

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace redco::workdir {

/// A holder of weights that all ranks of a process share. The first rank that needs the weights
/// opens them.
class shared_weights {
 public:
  explicit shared_weights(std::filesystem::path path) : path_(std::move(path)) {}

  /// Returns the weights, and opens them on the first call. Throws the errors of open_weights().
  /// Any thread may call it.
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
