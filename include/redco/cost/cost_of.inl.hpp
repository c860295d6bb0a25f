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

}  // namespace redco::cost
