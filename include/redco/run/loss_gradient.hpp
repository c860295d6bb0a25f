#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::run {

/// Returns the counts of a loss' terms, summed over the replicas; a replica without a micro-batch
/// gives a loss without terms. All replicas call it.
std::vector<double> counts_of_replicas(terms const& loss, comm::replica_round const& round);

/// Returns the sum whose gradient a micro-batch adds to that of its step: of a loss of one term the
/// term's own sum, which is divided by the step's count later; of several terms each term's share
/// of its mean over the replicas, whose `counts` are given. Undefined if nothing counted. Errors:
/// exit code 64 for several terms without counts.
at::Tensor sum_to_differentiate(terms const& loss, std::vector<double> const& counts);

/// Runs backward from the sum into the flat gradient of the network's store. Errors: exit code 70
/// for a sum without trained parameters, and if a gradient lies elsewhere afterwards.
void add_gradient(network_state const& state, at::Tensor const& sum);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/loss_gradient.inl.hpp>
#endif
