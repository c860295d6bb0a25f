#pragma once

#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace redco::safetensors {

/// A set of weights on the disk: a table of tensors and the files that hold them. Copies share the
/// files. All ranks of a process use one source, which is opened before the ranks start, so that
/// headers are read only once.
struct weights_source {
  tensor_table tensors;
  std::shared_ptr<open_files const> files;
  /// True if the weights are a redco checkpoint, whose tensors have the names and layout of the
  /// model's parameters.
  bool own_names = false;
  /// Prefixes of names of model parameters that are not loaded but keep their initial values.
  std::vector<std::string> fresh = {};
};

/// Opens a `.safetensors` file, a `.json` index of several such files, or a directory. A directory
/// must have `model.safetensors` or `model.safetensors.index.json`. Checks an index against all its
/// files. Throws `error` with exit code 65 if `path` has no valid weights.
weights_source open_safetensors(std::filesystem::path const& path);

}  // namespace redco::safetensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/safetensors/weights_source.inl.hpp>
#endif
