#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <span>

namespace redco::ckpt {

/// Fills every rank's parts with the weights of a model folder. `table` maps parameters to names
/// and layouts of the files, with or without the base model's prefix. Each byte is read once;
/// floating dtypes are converted. A redco checkpoint is read by the model's own names. Layers whose
/// paths `weights.fresh` lists are not loaded: their parts keep their values.
///
/// Throws `error` with exit code 65 and the first 20 differences if the files do not fit. The
/// message names heads that the files lack and `fresh` could list. Throws 64 if a layer in it does
/// not exist.
void load_model(safetensors::weights_source const& weights, models::stored_table const& table,
                std::span<ckpt::state_part const> parts, rank_context& rank);

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/load_model.inl.hpp>
#endif
