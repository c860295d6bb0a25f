#pragma once

#include <redco/compat/compat_parameter.hpp>
#include <redco/compat/compat_split.hpp>
#include <redco/compat/detail/compat_names.hpp>
#include <redco/compat/detail/compat_rules.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace redco {

/// Returns the Python original's (redco 0.4.23) split of each parameter on `model_shards` devices,
/// decided from names and shapes. For comparison with `plan_of`; never executed. Parameters with an
/// equal key share one rule. The key is the last two names of a kernel's path, otherwise the last
/// name. A parameter follows the first rule, in name order, whose key occurs in its path. Keys for
/// which the original raises an exception are replicated. Names are literal; the original treats
/// them as regular expressions. The order of `parameters` only affects the choice between the
/// reasons ranks_differ and raises. Requires model_shards >= 1.
constexpr std::vector<compat::compat_split> compat_plan(std::span<compat::compat_parameter const> parameters,
                                                        int model_shards) {
  if (model_shards == 1) return std::vector<compat::compat_split>(parameters.size());
  auto rules = compat::detail::collect_compat_rules(parameters, model_shards);
  compat::detail::decide_compat_rules(rules);
  std::vector<compat::compat_split> plan;
  for (compat::compat_parameter const& p : parameters) {
    plan.push_back(std::find_if(rules.begin(), rules.end(), [&p](compat::detail::compat_rule const& r) {
                     return compat::detail::stands_in(r.key, p.path, '/');
                   })->decided);
  }
  return plan;
}

}  // namespace redco
