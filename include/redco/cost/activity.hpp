#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>

#include <redco/shard/entry.hpp>
#include <redco/fact/activation_fact.hpp>
#include <redco/fact/parameter_fact.hpp>

#include <cstdint>

namespace redco {

/// What one rank goes through in one step besides the products themselves, counted over its forward passes, over those of
/// blocks that are recomputed, and twice for backward: tensors that layers make, their bytes, and the bytes of weights that
/// the layers read or whose gradients they add to.
struct activity {
  std::int64_t tensors = 0;
  std::int64_t bytes = 0;
  std::int64_t weight_bytes = 0;

  friend constexpr bool operator==(activity const&, activity const&) = default;
};

template <class Facts>
constexpr activity activity_of(Facts const& facts, setup const& s) {
  activity a;
  auto const passes = [&](bool in_block) { return s.micro_batches * (s.recompute && in_block ? 4 : 3); };
  for (saved_fact const& fact : facts.saved) {
    switch (fact.role) {
      case saved_role::stored:
      case saved_role::entry:
      case saved_role::first_entry:
      case saved_role::loss:
      case saved_role::loss_workspace: {
        std::int64_t const times = passes(fact.in_block) * fact.copies;
        a.tensors += times;
        a.bytes += times * local_bytes(fact, s.mesh.tp, s.compute);
        break;
      }
      default: break;
    }
  }
  for (parameter_fact const& fact : facts.parameters)
    a.weight_bytes +=
        passes(fact.copies() > 1) * fact.copies() * entry{fact, s.mesh}.local().count() * size_of(s.compute);
  return a;
}

}  // namespace redco
