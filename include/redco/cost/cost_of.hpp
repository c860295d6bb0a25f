#pragma once

#include <redco/cost/checks.hpp>
#include <redco/cost/memory_of.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/operations.hpp>
#include <redco/cost/rank_cost.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/cost/stage_costs.hpp>

#include <redco/shard/facts.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <vector>

namespace redco::cost::detail {

constexpr void check_run(fact::program const& facts, optimizer::demands const& demands, setup const& s) {
  check_setup(s);
  check_hosts(s.mesh, s.hosts);
  // A step with any number of micro-batches has a cost; runs refuse some for full steps.
  check_schedule(s, s.table != nullptr ? s.table->micro_batches : s.mesh.pp);
  check_recomputed(facts, s.recompute);
  check_zero(demands, s);
  check_kept_blocks(facts, s.zero.keep);
  check_magnitude(facts, demands, s);
}

constexpr rank_cost cost_from(fact::program const& facts, optimizer::demands const& demands, setup const& s) {
  check_run(facts, demands, s);
  if (s.mesh.pp > 1) return largest_of(costs_of_stages(facts, demands, s)).cost;
  setup const with_owners = demanded(s, demands);
  simulation const run(facts, with_owners);
  return {memory_of(run, demands), messages_of(run, demands), operations_of(run.work(), s), activity_of(run)};
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Returns the cost of one rank for a model's program (the parameters, tensors and messages that
/// its layers declare). With several pipeline stages, it is a rank of the stage that needs most
/// memory; stage_costs() returns all stages. `demands` has the numbers of optimizer state tensors
/// per parameter. Not a template, so it is compiled once. Throws the errors of cost_of().
rank_cost cost_of_program(fact::program const& facts, optimizer::demands const& demands, setup const& s);

/// Returns the costs of a rank of each pipeline stage for a model's program. Throws the errors of
/// cost_of().
std::vector<stage_cost> stage_costs(fact::program const& facts, optimizer::demands const& demands, setup const& s);

/// Returns the moments of all computations of each pipeline stage in a step, in their order. Throws
/// the errors of cost_of().
std::vector<std::vector<stage_moment>> stage_moments(fact::program const& facts, optimizer::demands const& demands,
                                                     setup const& s);

/// Returns the cost of one rank for a model whose sizes are known at run time, with several
/// pipeline stages of the stage that needs most memory. Requires that the mesh can hold the model,
/// which plan_of() checks. Throws `error` with exit code 64 if the setup `s` is invalid, if sizes
/// exceed 64-bit integers, or if the hosts do not divide the ranks. Throws it also if the model
/// does not have the range of recomputed blocks.
template <model M, class Optimizer>
rank_cost cost_of(M const& m, Optimizer const& optimizer, setup const& s) {
  check_setup(s);
  return cost_of_program(shard::facts_of(m, s.rank_load()), optimizer::demands_of(optimizer), s);
}

/// Returns the cost of one rank for a constexpr model. Requires legal<Model, mesh> (the mesh can
/// hold the model).
///
/// constexpr redco::cost::setup run{.mesh = {.tp = 2}, .load = {16, 256}};
/// constexpr auto c = redco::cost::cost_of<model>(redco::adamw{}, run);
/// static_assert(c.memory.peak() < redco::GiB(4));
template <auto const& Model, class Optimizer>
constexpr rank_cost cost_of(Optimizer const& optimizer, setup const& s) {
  check_setup(s);
  return detail::cost_from(shard::facts_of<Model>(s.rank_load()), optimizer::demands_of(optimizer), s);
}

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/cost_of.inl.hpp>
#endif
