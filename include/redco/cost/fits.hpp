#pragma once

#include <redco/cost/cost_of.hpp>

#include <redco/shard/legal.hpp>
#include <redco/diag/blame.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::cost::detail {

/// The result of the check fits<>: passed() returns true if the peak memory of one rank is within
/// the budget. The other members are printed in the compile error to show the use of memory.
struct budget_check {
  redco::mesh mesh;
  std::int64_t peak_mib = 0, budget_mib = 0;
  std::int64_t parameters_and_state_mib = 0, activations_mib = 0;
  bool within = true;

  constexpr bool passed() const { return within; }
};

constexpr std::int64_t mib_above(std::int64_t bytes) { return (bytes + 1024 * 1024 - 1) / (1024 * 1024); }

template <auto const& Model, auto Optimizer, mesh Mesh, workload Load, std::int64_t Budget, dtype Compute,
          recomputed_blocks Recompute, int Zero, shape::zero_owner Owner>
constexpr budget_check check_budget() {
  // Wrong sizes and an illegal mesh have their own errors.
  constexpr auto const& facts = shard::constant_facts_of<Model>.parameters;
  if (shard::constant_facts_of<Model>.mistake || !shard::plannable(Mesh) ||
      Mesh.pp > shard::constant_facts_of<Model>.most_stages || shard::first_illegal(facts, Mesh) < facts.size() ||
      (Mesh.cp > 1 && !shard::divides_sequences<Model>))
    return {Mesh};
  setup run{Mesh, Load, Compute, Recompute};
  run.zero.level = Zero;
  run.zero.owner = Owner;
  memory const m = cost_of<Model>(Optimizer, run).memory;
  return {Mesh,
          mib_above(m.peak()),
          Budget / (1024 * 1024),
          mib_above(m.persistent()),
          mib_above(m.activations + m.backward.recomputed),
          m.peak() <= Budget};
}

}  // namespace redco::cost::detail

namespace redco {

/// A compile-time check that a mesh can hold a constexpr model and that each rank needs at most
/// `Budget` bytes for tensors. `Zero`, `Owner`: level of ZeRO, and owner of state.
///
/// static_assert(redco::fits<model, redco::adamw{}, redco::mesh{.dp = 1, .tp = 2},
///                           redco::workload{.batch = 16, .sequence = 256}, redco::GiB(4)>{});
///
/// A failure gives one compile error: an error of legal<> if the mesh cannot hold the model, or
/// redco[C001] with the peak, the budget and the two largest parts.
template <auto const& Model, auto Optimizer, mesh Mesh, workload Load, std::int64_t Budget, dtype Compute = dtype::f32,
          recomputed_blocks Recompute = recomputed_blocks(), int Zero = 0,
          shape::zero_owner Owner = shape::zero_owner::element>
struct fits : legal<Model, Mesh> {
  static_assert(diag::verdict<cost::detail::check_budget<Model, Optimizer, Mesh, Load, Budget, Compute, Recompute, Zero,
                                                         Owner>()>{},
                "redco[C001]: the job does not fit in the memory of a rank; use a wider mesh, a smaller micro-batch or "
                "recomputation");
};

}  // namespace redco
