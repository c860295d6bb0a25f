#pragma once

#include <redco/workdir/open_weights.hpp>

#include <redco/workdir/check_checkpoint.hpp>
#include <redco/workdir/part_files.hpp>
#include <redco/config.hpp>

#include <memory>
#include <system_error>

namespace redco::workdir {

REDCO_INLINE safetensors::weights_source open_weights(std::filesystem::path const& path) {
  std::error_code unknown;  // what cannot be looked at is told by opening it
  if (!std::filesystem::exists(path / "manifest.json", unknown)) return safetensors::open_safetensors(path);
  // A run that goes on may move the pointer (min_loss); the checkpoint itself stays.
  std::filesystem::path const checkpoint = std::filesystem::canonical(path);
  safetensors::weights_source source{
      .tensors = check_checkpoint(checkpoint).tensors,
      .files = std::make_shared<safetensors::open_files const>(checkpoint, diag::links::refused),
      .own_names = true};
  std::erase_if(source.tensors, [](auto const& tensor) { return kind_of(tensor.first) != "parameters"; });
  return source;
}

}  // namespace redco::workdir
