#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/joint_calls.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/axis.hpp>

namespace redco::nn {

/// Announces a call of a network whose experts are on several ranks. bound_network does so before
/// each forward, and a training step before each backward. `in`: the pass of the call.
inline void announce_call(pass const& in) {
  comm::announced(in.rank->group(shape::axis::ep),
                  at::GradMode::is_enabled() ? comm::joint_call::recorded : comm::joint_call::forward);
}
inline void announce_backward(rank_context const& rank) {
  comm::announced(rank.group(shape::axis::ep), comm::joint_call::backward);
}

/// Takes part, with 0 rows, in the calls of a network with experts that ranks along the mesh axis
/// ep still make. Returns when no rank has a call left. Adds the gradients of their backward passes
/// to the parameters. All ranks call it after their last call of a step, an evaluation or a
/// prediction. Does nothing if the network exchanges no rows. `in`: a pass with the settings of the
/// others' passes.
void join_calls(network_base const& net, pass const& in);

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/joint_calls.inl.hpp>
#endif
