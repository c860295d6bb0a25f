#pragma once

#include <redco/safetensors/open_files.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace redco::safetensors {

/// The tensors of weights on the disk and their files, which copies share: the ranks of a process take one source, opened
/// before they start, so that headers are read once.
struct weights_source {
  tensor_table tensors;
  std::shared_ptr<open_files const> files;
  bool own_names = false;               ///< of a checkpoint: tensors are named and lie as the model has them
  std::vector<std::string> fresh = {};  ///< beginnings of our parameters' names that keep the values they start with
};

/// Opens a `.safetensors` file, an index of several (`.json`), whose every promise is checked, or a directory with
/// `model.safetensors` or `model.safetensors.index.json`. Error 65 when there are none or they are not valid.
weights_source open_safetensors(std::filesystem::path const& path);

}  // namespace redco::safetensors

#ifndef REDCO_COMPILED
#include <redco/safetensors/weights_source.inl.hpp>
#endif
