#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/ckpt/state_part.hpp>

#include <vector>

namespace redco {

/// Returns the parameters without adapters, with every adapted weight replaced by a copy W + s B A.
/// `base`: the network's parameters except adapters, under the store's names. Sends no messages
/// between ranks.
std::vector<ckpt::state_part> merged(network_base const& net, std::vector<ckpt::state_part> base);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/adapt/merged.inl.hpp>
#endif
