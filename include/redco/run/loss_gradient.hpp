#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::run {

/// Returns the count (tokens or examples) of each loss term, summed over the replicas. All replicas
/// call it; a replica without a micro-batch passes a loss without terms.
std::vector<double> counts_of_replicas(terms const& loss, comm::replica_round const& round);

/// Returns the scalar from which backward starts for one micro-batch; undefined if no token or
/// example counted. For a loss of one term, the scalar is the term's sum; the step divides the
/// gradient by the global count later. For several terms, the scalar adds up each term's sum
/// divided by its count in `counts`. Throws `error` with exit code 64 for several terms without
/// `counts`.
at::Tensor sum_to_differentiate(terms const& loss, std::vector<double> const& counts);

/// Runs backward from the scalar `sum` and adds the gradients to the flat buffer of the parameter
/// store. Throws `error` with exit code 70 if `sum` depends on no trained parameter, or if a
/// parameter's gradient is no longer a view of the flat buffer.
void add_gradient(network_state const& state, at::Tensor const& sum);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/loss_gradient.inl.hpp>
#endif
