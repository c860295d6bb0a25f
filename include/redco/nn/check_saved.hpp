#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>

#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/facts.hpp>
#include <redco/fact/program.hpp>

#include <span>

namespace redco {

namespace detail {

/// What a pass over these inputs is for the facts.
setup setup_of_pass(parameter_store const& store, pass const& in, at::Tensor const& input, at::Tensor const& source);

/// check_saved by the model's facts.
void check_saved_facts(fact::program const& facts, setup const& run, parameter_store const& store,
                       at::Tensor const& input, at::Tensor const& source, std::span<saved_watch::entry const> saved);

}  // namespace detail

/// Compares `saved`, what autograd was seen to save in a call of the network on `input`, with the slots that its layers declare.
/// Where parameters are frozen it may save less. `source`: what the encoder of an encoder-decoder read; else undefined.
/// Errors: exit_code::internal with layer and tensor or slot of each difference; exit_code::usage for a model with opaque
/// layers, which declare nothing.
template <model M>
void check_saved(M const& m, parameter_store const& store, pass const& in, at::Tensor const& input,
                 at::Tensor const& source, std::span<saved_watch::entry const> saved) {
  setup const run = detail::setup_of_pass(store, in, input, source);
  detail::check_saved_facts(facts_of(m, run.load), run, store, input, source, saved);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/check_saved.inl.hpp>
#endif
