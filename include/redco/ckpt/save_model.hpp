#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/diag/error.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace redco::ckpt {

/// Saves a model's weights in the format of Hugging Face transformers, without padding, in one file
/// or several with an index. Copies the options' `files` too. All ranks of `world` must call it
/// with the same names and options and their own parts; rank 0 writes.
///
/// If a rank fails, the new files are removed and every rank throws its error. Exit code 65: one of
/// `files` cannot be read; 74: disk error (path, bytes); 70: the owners' boxes do not cover each
/// tensor, or the table lacks a name. Memory and replaced files: ckpt/README.md.
void save_model(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                std::span<state_part const> parts, comm::group& world, save_model_options const& options = {});

/// The content that one rank adds to the two files of save_parts(): parts of tensors, and lines.
struct parts_with_lines {
  std::vector<state_part> parts;
  std::string lines;  ///< each ends with a line break
};

/// Writes two files in `directory`: the parts of all ranks as the safetensors file `weights`, and
/// `text_of(lines)` as the file `text`. `lines` has each line of any rank once. `own()` returns
/// this rank's content. All ranks of `world` must call it; rank 0 writes. A crash leaves the old
/// files or no weights, but never weights with another save's text.
///
/// If `own()` throws on a rank, all ranks throw its error. Throws `error` with exit code 74, path
/// and bytes if the disk fails.
void save_parts(std::filesystem::path const& directory, std::string const& weights, std::string const& text,
                tensors::function_ref<parts_with_lines()> own,
                tensors::function_ref<std::string(std::vector<std::string> const& lines)> text_of, comm::group& world);

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/save_model.inl.hpp>
#endif
