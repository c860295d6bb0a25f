#pragma once

#include <redco/compat/compat_split.hpp>
#include <redco/compat/detail/compat_rules.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace redco::compat {

/// Returns the split of each parameter that Redco for Python 0.4.23 chooses for `model_shards`
/// devices. Used only for comparison with `plan_of`, never executed. Requires model_shards >= 1.
/// Parameters with an equal key share one rule. The key is the last name of the path, or the last
/// two names for a kernel. A parameter follows the first rule, in name order, whose key occurs in
/// its path. Keys are matched literally; Python treats them as regular expressions. A parameter is
/// replicated if Python raises an exception for its key. The order of `parameters` affects only the
/// choice between the reasons `ranks_differ` and `raises`.
constexpr std::vector<compat_split> compat_plan(std::span<compat_parameter const> parameters, int model_shards) {
  if (model_shards == 1) return std::vector<compat_split>(parameters.size());
  auto rules = detail::collect_compat_rules(parameters, model_shards);
  detail::decide_compat_rules(rules);
  std::vector<compat_split> plan;
  for (compat_parameter const& p : parameters) {
    plan.push_back(std::find_if(rules.begin(), rules.end(), [&p](detail::compat_rule const& r) {
                     return detail::stands_in(r.key, p.path, '/');
                   })->decided);
  }
  return plan;
}

}  // namespace redco::compat
