#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/model/stored_name.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>
#include <span>

namespace redco {

/// Saves a model's weights as Hugging Face transformers do: `model.safetensors` in `directory`, or, where that would be
/// larger than the options allow, `model-00001-of-00003.safetensors`, ... and `model.safetensors.index.json`; with its names
/// and layouts, fused tensors put together, without padding; and beside them copies of the options' `files`.
///
/// All ranks of `world` call it with the same names and options and their own parts; rank 0 writes, a slab of at most 16 MiB
/// of a tensor at a time (one row, if that is longer), so no rank ever holds more than that beside its own part. Weights that
/// are in the directory already are replaced when all that is new is on the disk: one file by one rename; where there are
/// several, a crash while they get their names leaves no index, never one of mixed files; where `files` are not those that the
/// directory has, it leaves no weights, never those of another model. Of older files those that `folder_files` names go, if
/// the options have any; others stay.
///
/// When some rank fails, what was written is removed and every rank throws its error: 65 when one of `files` cannot be read, 74
/// naming path and bytes when the disk is full or fails, 70 when the owners' boxes do not make each tensor whole or the table
/// of names has no row for one.
void save_model(std::filesystem::path const& directory, std::span<stored_name const> names,
                std::span<ckpt::state_part const> parts, group& world, save_model_options const& options = {});

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/ckpt/save_model.inl.hpp>
#endif
