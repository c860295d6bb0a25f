#pragma once

#include <redco/cost/search_both_forms.hpp>

#include <redco/config.hpp>

namespace redco::cost::detail {

REDCO_INLINE search_result joined(search_result whole, search_result const& split) {
  for (found_plan const& p : split.plans)
    if (p.run.mesh.tp > 1) whole.plans.push_back(p);
  sort_by_time(whole.plans);
  if (split.smallest.peak < whole.smallest.peak) whole.smallest = split.smallest;
  return whole;
}

}  // namespace redco::cost::detail
