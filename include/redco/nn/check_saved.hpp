#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>

#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/facts.hpp>
#include <redco/fact/program.hpp>

#include <span>

namespace redco::nn::detail {

/// Returns the input of the cost model (`setup`) that corresponds to one forward call: mesh, batch
/// and sequence length, compute dtype and recomputation.
inline cost::setup setup_of_pass(parameter_store const& store, pass const& in, at::Tensor const& input,
                                 at::Tensor const& source) {
  auto const length = [](at::Tensor const& x) { return x.dim() > 1 ? x.size(1) : 1; };
  workload const load{input.size(0), length(input), source.defined() ? length(source) : 0};
  int const parts = in.cp == nullptr ? 1 : in.cp->size();
  return {
      .mesh = {.cp = parts, .tp = in.tp->size()}, .load = load, .compute = store.compute(), .recompute = in.recompute};
}

/// Compares the tensors `saved` by autograd with the saved tensors that the model's layers declare
/// in `facts`. Throws the errors of check_saved().
void check_saved_facts(fact::program const& facts, cost::setup const& run, parameter_store const& store,
                       at::Tensor const& input, at::Tensor const& source,
                       std::span<tensors::saved_watch::entry const> saved);

}  // namespace redco::nn::detail

namespace redco::nn {

/// Compares the tensors `saved` that autograd saved during a forward call on `input` with the
/// tensors that the model's layers declare. If parameters are frozen, autograd may save less.
/// `source` is the encoder's input, undefined for a model without encoder.
///
/// Throws `error` with exit code 70 and with layer and name of each difference. Throws `error` with
/// exit code 64 for a model with opaque layers (users' callables), which declare nothing.
template <model M>
void check_saved(M const& m, parameter_store const& store, pass const& in, at::Tensor const& input,
                 at::Tensor const& source, std::span<tensors::saved_watch::entry const> saved) {
  cost::setup const run = detail::setup_of_pass(store, in, input, source);
  detail::check_saved_facts(shard::facts_of(m, run.rank_load()), run, store, input, source, saved);
}

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/check_saved.inl.hpp>
#endif
