#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/function_ref.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco::ckpt {

/// Parts of tensors that are saved as one file, with a text of their own.
struct parts_with_text {
  std::vector<state_part> parts;
  std::string text;  ///< rank 0's is written
};

/// Writes the parts of all ranks as the safetensors file `weights` of a directory, and their text
/// as the file `text`. All ranks of `world` call it; rank 0 writes. A crash leaves what was there,
/// or no weights, never a text of other weights. Errors: those of `own` on any rank end all; exit
/// code 74 with path and bytes if the disk is full or fails.
void save_parts(std::filesystem::path const& directory, std::string const& weights, std::string const& text,
                function_ref<parts_with_text()> own, group& world);

}  // namespace redco::ckpt

#ifndef REDCO_COMPILED
#include <redco/ckpt/save_parts.inl.hpp>
#endif
