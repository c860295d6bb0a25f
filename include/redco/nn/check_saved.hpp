#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/facts.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>

#include <cstdint>

namespace redco {

namespace detail {

/// Bytes that the layers declare: what one rank's call of the network saves for backward.
std::int64_t declared_bytes(fact::program const& facts, setup const& run);

[[noreturn]] void refuse_saved(std::int64_t declared, std::int64_t kept, at::Tensor const& input,
                               at::Tensor const& source);
[[noreturn]] void refuse_opaque();

}  // namespace detail

/// Compares `kept`, the bytes that autograd was seen to save in a call of the network on `input`, with what its layers declare.
/// Where parameters are frozen it may save less. `source`: what the encoder of an encoder-decoder read; else undefined.
/// Errors: exit_code::internal with both numbers where they differ; exit_code::usage for a model with opaque layers, which
/// declare nothing.
template <model M>
void check_saved(M const& m, parameter_store const& store, pass const& in, at::Tensor const& input,
                 at::Tensor const& source, std::int64_t kept) {
  auto const length = [](at::Tensor const& x) { return x.dim() > 1 ? x.size(1) : 1; };
  workload const load{input.size(0), length(input), source.defined() ? length(source) : 0};
  setup const run{
      .mesh = {.dp = 1, .tp = in.tp->size()}, .load = load, .compute = store.compute(), .recompute = in.recompute};
  fact::program const facts = facts_of(m, load);
  for (parameter_fact const& p : facts.parameters)
    if (p.why == reason::opaque) detail::refuse_opaque();
  std::int64_t const declared = detail::declared_bytes(facts, run);
  bool const all_trained = store.trainable() == store.size();
  if (all_trained ? declared != kept : declared < kept) detail::refuse_saved(declared, kept, input, source);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/check_saved.inl.hpp>
#endif
