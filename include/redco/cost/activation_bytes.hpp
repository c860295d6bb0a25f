#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/activation_fact.hpp>

#include <cstdint>

namespace redco {

/// Bytes of one rank that forward keeps for backward because of one fact, all its copies together. Under recomputation a
/// repeated block keeps its input only.
constexpr std::int64_t activation_bytes(saved_fact const& fact, setup const& s) {
  bool kept = false;
  switch (fact.role) {
    case saved_role::stored:
    case saved_role::entry:
    case saved_role::first_entry: kept = !s.recompute || !fact.in_block; break;
    case saved_role::block_input: kept = s.recompute; break;
    case saved_role::batch_when_whole: kept = s.mesh.tp > 1; break;
    case saved_role::batch:
    case saved_role::block_output:
    case saved_role::workspace:
    case saved_role::reduction:
    case saved_role::weight_gradient:
    case saved_role::carried_from:
    case saved_role::carried_until:
    case saved_role::loss:
    case saved_role::loss_workspace:;
    case saved_role::uncounted: break;
  }
  return kept ? local_bytes(fact, s.mesh.tp, s.compute) * fact.copies : 0;
}

}  // namespace redco
