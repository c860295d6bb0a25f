#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <span>
#include <string_view>

namespace redco {

/// Fills every rank's parts with the weights of a model's files, which name and lay them out as `names` say. As
/// `load_parameters`: each byte is read once, floating types are converted, what does not belong is error 65 with the first
/// 20 differences. Tensors that match a pattern in `unread` may be in the files without being wanted. A checkpoint of ours is
/// read by the model's own names.
void load_model(safetensors::weights_source const& weights, std::span<stored_name const> names,
                std::span<std::string_view const> unread, std::span<ckpt::state_part const> parts, rank_context& rank);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/ckpt/load_model.inl.hpp>
#endif
