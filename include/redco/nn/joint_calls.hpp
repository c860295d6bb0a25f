#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/joint_calls.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/axis.hpp>

#include <functional>

namespace redco::nn {

/// Announces forward of a network whose experts are on several ranks to the ranks along ep.
/// bound_network calls it before each forward. `in`: the pass of the call.
inline void announce_call(pass const& in) {
  comm::announced(in.rank->group(shape::axis::ep),
                  at::GradMode::is_enabled() ? comm::joint_call::recorded : comm::joint_call::forward);
}
/// Announces backward to the ranks along ep. A training step calls it before each backward.
inline void announce_backward(rank_context const& rank) {
  comm::announced(rank.group(shape::axis::ep), comm::joint_call::backward);
}
/// Announces the end of a loss function to the ranks along ep. A training step calls it after each
/// loss function if ranks without the micro-batch call join_forward().
inline void announce_return(rank_context const& rank) {
  comm::announced(rank.group(shape::axis::ep), comm::joint_call::returned);
}
/// Announces the sum over all replicas of a loss's counts to the ranks along ep. A step of the
/// program's own calls it before it sums the counts of a loss of several terms.
inline void announce_counts(rank_context const& rank) {
  comm::announced(rank.group(shape::axis::ep), comm::joint_call::counts);
}

/// Takes part, with 0 rows, in the calls of a network with experts that ranks along the mesh axis
/// ep still make. Returns when no rank has a call left. Adds the gradients of their backward passes
/// to the parameters. All ranks call it after their last call of a step, an evaluation or a
/// prediction. Does nothing if the network exchanges no rows. `in`: a pass with the settings of the
/// others' passes. `sum_counts`: a function that takes part in a sum of counts, called for each sum
/// that ranks along ep announce. Needed only for steps of the program's own.
void join_calls(network_base const& net, pass const& in, std::function<void()> const& sum_counts = {});

/// Takes part, with 0 rows, in forward of a micro-batch that other ranks along ep compute. Returns
/// the sum of all recorded outputs, from which join_backward() starts; undefined if there are none.
/// `chunk`: index of the model chunk that a pipeline stage runs.
at::Tensor join_forward(network_base const& net, pass const& in, int chunk);

/// Takes part in backward of a micro-batch that other ranks along ep compute. Adds the gradients to
/// the parameters. `recorded`: result of join_forward().
void join_backward(rank_context const& rank, at::Tensor const& recorded);

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/joint_calls.inl.hpp>
#endif
