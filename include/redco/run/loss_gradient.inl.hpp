#pragma once

#include <redco/run/loss_gradient.hpp>

#include <redco/run/loss_totals.hpp>
#include <redco/comm/collective_label.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <string>

namespace redco::run {

REDCO_INLINE std::vector<double> counts_of_replicas(terms const& loss, comm::replica_round const& round) {
  std::vector<double> counts(loss_totals::most_terms, 0);
  for (std::size_t i = 0; i < loss.all.size(); ++i) counts[i] = loss.all[i].loss.count;
  comm::collective_label const label("loss counts");
  at::Tensor const sums = round.sum(at::tensor(counts, at::kDouble));
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
}

REDCO_INLINE at::Tensor sum_to_differentiate(terms const& loss, std::vector<double> const& counts) {
  if (counts.empty() && loss.all.size() != 1)
    throw error(exit_code::usage, "a step of one's own adds a loss of " + std::to_string(loss.all.size()) +
                                      " terms, but the pipeline's loss has one: let it return redco::terms too");
  at::Tensor sum;
  for (std::size_t i = 0; i < loss.all.size(); ++i) {
    auto const& [name, one, factor] = loss.all[i];
    if (!counts.empty() && counts[i] == 0) continue;
    double const scale = counts.empty() ? factor : factor / counts[i];
    at::Tensor const share = scale == 1 ? one.sum : one.sum * scale;
    sum = sum.defined() ? sum + share : share;
  }
  return sum;
}

REDCO_INLINE void add_gradient(network_state const& state, at::Tensor const& sum) {
  if (sum.defined()) {
    if (!sum.requires_grad())
      throw error(
          exit_code::internal,
          "the loss has no gradient: no trained parameter has a part in it, or it was detached (item(), detach(), "
          "NoGradGuard, whole-number types); compute it from what the network returns");
    sum.backward();
  }
  // A user's backward(create_graph=true) replaces `.grad`, and the flat gradient would stay zero.
  for (at::Tensor const& leaf : state.network().parameters()) {
    if (!leaf.requires_grad()) continue;
    if (!leaf.grad().defined() || !leaf.grad().is_alias_of(state.store.gradients()))
      throw error(exit_code::internal,
                  "a parameter's gradient is no longer in the flat buffer: in loss functions use autograd::grad with "
                  "create_graph, never backward");
  }
}

}  // namespace redco::run
