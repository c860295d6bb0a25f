#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/diag/error.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace redco::ckpt {

/// Returns the properties by which processes compare the weights that they have opened, by name.
/// For each tensor: dtype, shape, file, offset and a digest of its first values. For config.json:
/// the value of each key. For each other file of a model folder: a digest.
std::map<std::string, std::string> identity_of(safetensors::weights_source const& weights);

/// Checks that all processes have opened equal weights, each from its own host's files. All ranks
/// must call it; the first rank of each process reads. Throws `error` with exit code 65 on every
/// rank if the weights differ; the message names both folders, their hosts, and the differences.
void check_same_weights(safetensors::weights_source const& weights, rank_context const& rank);

/// Fills every rank's parts with weights from files, matched by name (a warm start). Floating
/// dtypes are converted. All ranks must call it with the same tensors in the same order. One rank
/// reads each byte and sends it to the other ranks that hold the part.
///
/// Throws `error` with exit code 65 and the first 20 differences for missing, superfluous or
/// differently shaped tensors. Names that begin with an entry of `unread` may be superfluous. If a
/// rank cannot read, all throw its error (65 or 74), and parts may be partly filled. Throws 69 if a
/// rank reads nothing until the deadline of disks.
void load_parameters(safetensors::weights_source const& weights, std::span<state_part const> parts, rank_context& rank,
                     std::vector<std::string> const& unread = {}, workdir::disk_limits const& limits = {});

/// Fills every rank's parts with the weights of a model folder. `table` maps parameters to names
/// and layouts of the files, with or without the base model's prefix. Each byte is read once;
/// floating dtypes are converted. A redco checkpoint is read by the model's own names. Layers whose
/// paths `weights.fresh` lists are not loaded: their parts keep their values.
///
/// Throws `error` with exit code 65 and the first 20 differences if the files do not fit. The
/// message names heads that the files lack and `fresh` could list. Throws 64 if a layer in it does
/// not exist, and 69 if a rank reads nothing until the deadline of disks.
void load_model(safetensors::weights_source const& weights, models::stored_table const& table,
                std::span<state_part const> parts, rank_context& rank, workdir::disk_limits const& limits = {});

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/load_weights.inl.hpp>
#endif
