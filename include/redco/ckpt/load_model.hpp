#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <span>

namespace redco {

/// Fills every rank's parts with the weights of a model's files, which name and lay them out as
/// `table` says, with the base model's prefix or without. As `load_parameters`: each byte is read
/// once, floating types are converted. A checkpoint of ours is read by the model's own names. Parts
/// that `weights.fresh` names keep their values.
///
/// Errors: exit code 65 with the first 20 differences for what does not belong, and the layers of a
/// missing head that could be fresh; 64 for a name in `weights.fresh` that no part has.
void load_model(safetensors::weights_source const& weights, stored_table const& table,
                std::span<ckpt::state_part const> parts, rank_context& rank);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/ckpt/load_model.inl.hpp>
#endif
