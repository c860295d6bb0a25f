#pragma once

#include <redco/safetensors/weights_source.hpp>
#include <redco/diag/error.hpp>

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace redco::workdir {

/// Opens the model weights at `path`: files that open_safetensors() accepts, or a redco checkpoint,
/// whose hashes are verified first by reading all bytes. Throws `error` with exit code 65 if there
/// are no valid weights. If `path` is a workdir, the message names its checkpoints.
safetensors::weights_source open_weights(std::filesystem::path const& path);

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

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/open_weights.inl.hpp>
#endif
