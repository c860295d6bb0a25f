#pragma once

#include <redco/cost/checks.hpp>
#include <redco/cost/memory_of.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/operations.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>

#include <redco/shard/facts.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>

namespace redco::cost {

/// The predicted cost of one rank in one step: bytes of memory, messages and memory traffic. The
/// operations are those of the whole replica, over all its shards.
struct rank_cost {
  redco::cost::memory memory;
  redco::cost::messages messages;
  redco::cost::operations operations;
  redco::cost::activity activity;

  friend constexpr bool operator==(rank_cost const&, rank_cost const&) = default;
};

}  // namespace redco::cost

namespace redco::cost::detail {

constexpr rank_cost cost_from(fact::program const& facts, optimizer::demands const& demands, setup const& s) {
  check_setup(s);
  check_hosts(s.mesh, s.hosts);
  check_recomputed(facts, s.recompute);
  check_magnitude(facts, demands, s);
  simulation const run(facts, s);
  return {memory_of(run, demands), messages_of(run, demands), operations_of(run.work(), s), activity_of(run)};
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Returns the cost of one rank for a model's program (the parameters, tensors and messages that
/// its layers declare). `demands` has the numbers of optimizer state tensors per parameter. Not
/// a template, so it is compiled once. Throws the errors of cost_of().
rank_cost cost_of_program(fact::program const& facts, optimizer::demands const& demands, setup const& s);

/// Returns the cost of one rank for a model whose sizes are known at run time. Requires that the
/// mesh can hold the model, which plan_of() checks. Throws `error` with exit code 64 if the setup
/// `s` is invalid, if sizes exceed 64-bit integers, or if the hosts do not divide the ranks. Throws
/// it also if the model does not have the range of recomputed blocks.
template <model M, class Optimizer>
rank_cost cost_of(M const& m, Optimizer const& optimizer, setup const& s) {
  check_setup(s);
  return cost_of_program(shard::facts_of(m, s.load), optimizer::demands_of(optimizer), s);
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
  return detail::cost_from(shard::facts_of<Model>(s.load), optimizer::demands_of(optimizer), s);
}

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/cost_of.inl.hpp>
#endif
