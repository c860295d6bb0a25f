#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/model/stored_name.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <span>

namespace redco::ckpt {

/// Saves a model's weights in the format of Hugging Face transformers, without padding, in one file
/// or several with an index. Copies the options' `files` too. All ranks of `world` must call it
/// with the same names and options and their own parts; rank 0 writes.
///
/// If a rank fails, the new files are removed and every rank throws its error. Exit code 65: one of
/// `files` cannot be read; 74: disk error (path, bytes); 70: the owners' boxes do not cover each
/// tensor, or the table lacks a name. Memory and replaced files: ckpt/README.md.
void save_model(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                std::span<ckpt::state_part const> parts, comm::group& world, save_model_options const& options = {});

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/save_model.inl.hpp>
#endif
