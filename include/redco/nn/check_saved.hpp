#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>

#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/saved_slots.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/facts.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

namespace detail {

/// A sentence for each slot that a layer declares and does not save, unless that `may_be`, and for each tensor that a layer
/// saves and neither it nor a composition around it declares. A tensor is that of one slot of its dtype and bytes, and of its name
/// where `save_as` gave it one: one that the same layers declare, else one of them, else a composition around them.
std::vector<std::string> saved_differences(std::span<cost::saved_slot const> declared,
                                           std::span<saved_watch::entry const> saved, bool may_be_unsaved);

[[noreturn]] void refuse_saved(std::vector<std::string> const& differences, at::Tensor const& input,
                               at::Tensor const& source);
[[noreturn]] void refuse_opaque();

}  // namespace detail

/// Compares `saved`, what autograd was seen to save in a call of the network on `input`, with the slots that its layers declare.
/// Where parameters are frozen it may save less. `source`: what the encoder of an encoder-decoder read; else undefined.
/// Errors: exit_code::internal with layer and tensor or slot of each difference; exit_code::usage for a model with opaque
/// layers, which declare nothing.
template <model M>
void check_saved(M const& m, parameter_store const& store, pass const& in, at::Tensor const& input,
                 at::Tensor const& source, std::span<saved_watch::entry const> saved) {
  auto const length = [](at::Tensor const& x) { return x.dim() > 1 ? x.size(1) : 1; };
  workload const load{input.size(0), length(input), source.defined() ? length(source) : 0};
  setup const run{
      .mesh = {.dp = 1, .tp = in.tp->size()}, .load = load, .compute = store.compute(), .recompute = in.recompute};
  fact::program const facts = facts_of(m, load);
  for (fact::parameter_fact const& p : facts.parameters)
    if (p.why == fact::reason::opaque) detail::refuse_opaque();
  bool const some_frozen = store.trainable() < store.size();
  auto const differences = detail::saved_differences(cost::saved_slots(facts, run), saved, some_frozen);
  if (!differences.empty()) detail::refuse_saved(differences, input, source);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/check_saved.inl.hpp>
#endif
