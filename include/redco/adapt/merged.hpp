#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/ckpt/state_part.hpp>

#include <vector>

namespace redco {

/// Returns parts of a network's parameters without its adapters, each adapted weight as the sum
/// W + s B A, which is a copy. `base` are those parts, under the names of the store. No messages.
std::vector<ckpt::state_part> merged(network_base const& net, std::vector<ckpt::state_part> base);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/adapt/merged.inl.hpp>
#endif
