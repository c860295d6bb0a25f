#pragma once

#include <redco/workdir/open_weights.hpp>

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace redco::workdir::detail {

/// Throws `error` with exit code 65 if `path` is a workdir or its folder of checkpoints, because
/// weights come from one checkpoint. The message names the checkpoints.
inline void refuse_workdir(std::filesystem::path const& path) {
  std::error_code unknown;
  for (char const* const file : {"model.safetensors", "model.safetensors.index.json"})
    if (std::filesystem::exists(path / file, unknown)) return;
  bool const inside = std::filesystem::exists(path / checkpoint_names::pointer_file, unknown);
  std::filesystem::path const folder = inside ? path : path / checkpoint_names::folder;
  if (!inside && !std::filesystem::is_directory(folder, unknown)) return;
  std::vector<std::string> best;
  for (auto const& entry : std::filesystem::directory_iterator(folder, unknown))
    if (std::string const name = entry.path().filename().string(); name.starts_with("min_") || name.starts_with("max_"))
      best.push_back(name);
  std::sort(best.begin(), best.end());
  std::string others;
  for (std::string const& name : best) others += ", or " + (folder / name).string();
  throw error(exit_code::data, path.string() + " is the folder of a run, which has several checkpoints: give " +
                                   (folder / checkpoint_names::last).string() + others);
}

}  // namespace redco::workdir::detail

namespace redco::workdir {

REDCO_INLINE safetensors::weights_source open_weights(std::filesystem::path const& path) {
  std::error_code unknown;  // opening reports paths that cannot be read
  if (!std::filesystem::exists(path / "manifest.json", unknown)) {
    detail::refuse_workdir(path);
    return safetensors::open_safetensors(path);
  }
  // A run in progress may move a pointer (min_loss), but the checkpoint stays.
  std::filesystem::path const checkpoint = std::filesystem::canonical(path);
  safetensors::weights_source source{
      .tensors = check_checkpoint(checkpoint).tensors,
      .files = std::make_shared<safetensors::open_files const>(checkpoint, diag::links::refused),
      .own_names = true};
  std::erase_if(source.tensors, [](auto const& tensor) { return kind_of(tensor.first) != "parameters"; });
  return source;
}

}  // namespace redco::workdir
