#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::run {

/// Returns the counts of the loss terms, summed over the replicas. All replicas call it; a replica
/// without a micro-batch passes a loss without terms.
std::vector<double> counts_of_replicas(terms const& loss, comm::replica_round const& round);

/// Returns the scalar from which backward starts for one micro-batch; undefined if nothing counted.
/// For a loss of one term, the scalar is the term's sum, which the step divides by its count later.
/// For several terms, the scalar adds each sum divided by its global count in `counts`. Throws
/// `error` with exit code 64 for several terms without counts.
at::Tensor sum_to_differentiate(terms const& loss, std::vector<double> const& counts);

/// Runs backward from `sum` into the flat gradient of the network's store. Throws `error` with exit
/// code 70 if no trained parameter takes part in the sum, or if a parameter's gradient is no longer
/// a view of the flat buffer.
void add_gradient(network_state const& state, at::Tensor const& sum);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/loss_gradient.inl.hpp>
#endif
