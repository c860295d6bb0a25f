#pragma once

#include <redco/cost/cost_of.hpp>

#include <redco/config.hpp>

namespace redco::cost {

REDCO_INLINE rank_cost cost_of_program(fact::program const& facts, optimizer::demands const& demands, setup const& s) {
  return detail::cost_from(facts, demands, s);
}

REDCO_INLINE std::vector<stage_cost> stage_costs(fact::program const& facts, optimizer::demands const& demands,
                                                 setup const& s) {
  detail::check_run(facts, demands, s);
  return detail::costs_of_stages(facts, demands, s);
}

REDCO_INLINE std::vector<std::vector<stage_moment>> stage_moments(fact::program const& facts,
                                                                  optimizer::demands const& demands, setup const& s) {
  detail::check_run(facts, demands, s);
  setup const run = demanded(s, demands);
  detail::stage_plan const plan(facts, run, s.micro_batches);
  std::vector<std::vector<stage_moment>> all;
  for (int stage = 0; stage < s.mesh.pp; ++stage) all.push_back(plan.moments_of(stage));
  return all;
}

}  // namespace redco::cost
