#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/comm/rank_context.hpp>
#include <redco/diag/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace redco::ckpt {

/// Fills every rank's parts with weights from outside (a warm start), each by its name in the file. Floating types are
/// converted to the part's own. All ranks call it with the same tensors in the same order.
///
/// Each byte of the files is read once, whatever the mesh: of the ranks that hold a part alike (replicas, replicated
/// tensors, shared key-value heads) one reads it and hands it on. Strict: a missing, surplus or differently shaped tensor is
/// error 65 with the first 20 differences; `unread` names the beginnings of those that may be surplus. When a rank cannot
/// read, all throw its error, 65 or 74; parts may then be half filled.
void load_parameters(safetensors::weights_source const& weights, std::span<state_part const> parts, rank_context& rank,
                     std::vector<std::string> const& unread = {});

}  // namespace redco::ckpt

#ifndef REDCO_COMPILED
#include <redco/ckpt/load_parameters.inl.hpp>
#endif
