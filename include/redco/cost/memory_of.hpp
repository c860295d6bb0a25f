#pragma once

#include <redco/cost/activation_bytes.hpp>
#include <redco/cost/largest_backward.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/setup.hpp>

#include <redco/shard/entry.hpp>
#include <redco/fact/activation_fact.hpp>

#include <cstdint>

namespace redco {

namespace detail {

template <class Parameters>
constexpr void add_parameters(memory& m, Parameters const& parameters, int slots, setup const& s) {
  std::int64_t const element = size_of(s.compute), master = size_of(accumulate_type(s.compute));
  for (parameter_fact const& fact : parameters) {
    std::int64_t const count = entry{fact, s.mesh}.local().count() * fact.copies();
    m.parameters += count * element;
    if (element != master) m.masters += count * master;
    if (!fact.trained) continue;
    m.gradients += count * element;
    m.optimizer += slots * count * master;
  }
}

}  // namespace detail

/// Bytes of one rank from a model's facts. `slots`: state numbers that the optimizer keeps for each parameter.
///
/// The peak is the largest of three: while the loss is computed, everything that forward keeps is there; backward frees it
/// layer by layer beside gradients in flight; the update works in place. A loss other than a language head's is the user's
/// own and is not counted.
template <class Facts>
constexpr memory memory_of(Facts const& facts, int slots, setup const& s) {
  memory m;
  int const shards = s.mesh.tp;
  detail::add_parameters(m, facts.parameters, slots, s);
  std::int64_t batch = 0;
  for (saved_fact const& fact : facts.saved) {
    std::int64_t const all = local_bytes(fact, shards, s.compute) * fact.copies;
    m.activations += activation_bytes(fact, s);
    switch (fact.role) {
      case saved_role::batch_when_whole:
      case saved_role::batch: batch += all; break;
      case saved_role::loss: m.loss += all; break;
      case saved_role::loss_workspace:
        // Sums in another type than the gradient are converted at the end.
        if (fact.kind != width_kind::accumulate || fact.shape.rank < 2 || s.compute == dtype::bf16)
          m.loss_workspace += all;
        break;
      case saved_role::stored:
      case saved_role::entry:
      case saved_role::first_entry:
      case saved_role::block_input:
      case saved_role::block_output:
      case saved_role::workspace:
      case saved_role::reduction:
      case saved_role::weight_gradient:
      case saved_role::carried_from:
      case saved_role::carried_until:;
      case saved_role::uncounted: break;
    }
  }
  m.batches = batch * (1 + s.prefetch);
  m.backward = largest_backward(facts.saved, s, m.activations);
  return m;
}

}  // namespace redco
