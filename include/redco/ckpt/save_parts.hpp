#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/function_ref.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco::ckpt {

/// The content of two files that save_parts() writes: parts of tensors, and a text.
struct parts_with_text {
  std::vector<state_part> parts;
  std::string text;  ///< content of the text file; only rank 0's text is written
};

/// Writes two files in `directory`: the parts of all ranks as the safetensors file `weights`, and a
/// text as the file `text`. `own()` returns this rank's parts and the text. All ranks of `world`
/// must call it; rank 0 writes. A crash leaves the old files or no weights, but never weights with
/// another save's text.
///
/// If `own()` throws on a rank, all ranks throw its error. Throws `error` with exit code 74, path
/// and bytes if the disk fails.
void save_parts(std::filesystem::path const& directory, std::string const& weights, std::string const& text,
                tensors::function_ref<parts_with_text()> own, comm::group& world);

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/save_parts.inl.hpp>
#endif
