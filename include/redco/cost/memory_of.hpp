#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>

#include <redco/shard/entry.hpp>

#include <cstdint>

namespace redco::cost::detail {

template <class Parameters>
constexpr void add_parameters(memory& m, Parameters const& parameters, int slots, setup const& s) {
  std::int64_t const element = shape::size_of(s.compute), master = shape::size_of(accumulate_type(s.compute));
  for (fact::parameter_fact const& fact : parameters) {
    std::int64_t const count = shard::entry{fact, s.mesh}.local().count() * fact.copies();
    m.parameters += count * element;
    if (element != master) m.masters += count * master;
    if (!fact.trained) continue;
    m.gradients += count * element;
    m.optimizer += slots * count * master;
  }
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Returns the bytes that one rank holds. `slots` is the number of optimizer state tensors per
/// parameter.
///
/// The peak is in one of three phases. The loss holds everything that forward saves. Backward frees
/// activations layer by layer while gradients exist. The update works in place. Only the loss of a
/// language head is included; other losses are user code.
constexpr memory memory_of(simulation const& of, int slots) {
  setup const& s = of.run();
  memory m;
  detail::add_parameters(m, of.program().parameters, slots, s);
  for (detail::placed_tensor const& t : of.tensors())
    if (t.what == detail::placed_tensor::kind::batch) m.batches += t.all() * (1 + s.prefetch);
  m.loss = of.loss();
  m.loss_workspace = of.loss_workspace();
  m.activations = of.activations();
  m.backward = of.backward();
  return m;
}

}  // namespace redco::cost
