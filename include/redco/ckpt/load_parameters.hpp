#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/comm/rank_context.hpp>
#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco::ckpt {

/// Fills every rank's parts with weights from files, matched by name (a warm start). Floating
/// dtypes are converted. All ranks must call it with the same tensors in the same order. One rank
/// reads each byte and sends it to the other ranks that hold the part.
///
/// Throws `error` with exit code 65 and the first 20 differences for missing, superfluous or
/// differently shaped tensors. Names that begin with an entry of `unread` may be superfluous. If a
/// rank cannot read, all throw its error (65 or 74), and parts may be partly filled.
void load_parameters(safetensors::weights_source const& weights, std::span<state_part const> parts, rank_context& rank,
                     std::vector<std::string> const& unread = {});

}  // namespace redco::ckpt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/ckpt/load_parameters.inl.hpp>
#endif
