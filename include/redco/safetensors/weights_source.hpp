#pragma once

#include <redco/safetensors/open_files.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace redco::safetensors {

/// A set of weights on the disk: a table of tensors and their files. Copies share the files. The
/// ranks of a process use one source, opened before they start, so that headers are read once.
struct weights_source {
  tensor_table tensors;
  std::shared_ptr<open_files const> files;
  /// True for a redco checkpoint, whose tensors have the names and layout of the model.
  bool own_names = false;
  /// Prefixes of the names of model parameters that keep their initial values.
  std::vector<std::string> fresh = {};
};

/// Opens a `.safetensors` file, an index of several files (`.json`), which is checked completely,
/// or a directory. A directory must have `model.safetensors` or `model.safetensors.index.json`.
/// Throws `error` with exit code 65 if there are no valid weights.
weights_source open_safetensors(std::filesystem::path const& path);

}  // namespace redco::safetensors

#ifndef REDCO_COMPILED
#include <redco/safetensors/weights_source.inl.hpp>
#endif
