#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/ckpt/state_part.hpp>

#include <vector>

namespace redco::adapt {

/// Returns a rank's parts of the model's parameters with LoRA adapters merged: each adapted weight
/// is a copy W + s B A. `base`: the rank's parts of all parameters except adapters. Sends no
/// messages between ranks.
std::vector<ckpt::state_part> merged(nn::network_base const& net, std::vector<ckpt::state_part> base);

}  // namespace redco::adapt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/merged.inl.hpp>
#endif
