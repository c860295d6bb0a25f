#pragma once

#include <redco/compat/compat_parameter.hpp>
#include <redco/compat/compat_split.hpp>
#include <redco/compat/detail/compat_names.hpp>
#include <redco/compat/detail/compat_rules.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace redco {

/// What the Python original (redco 0.4.23) decides for each parameter of a tree on `model_shards` devices, from names and
/// shapes alone, and why: to be compared with `plan_of`, never executed.
///
/// All parameters with the same key (the last two names of a kernel's path, else the last one) are collected into one
/// rule, which is decided for them together. A parameter then follows the first rule, in the order of names, whose key
/// stands anywhere in its path, whatever its own shape.
///
/// A key on which the original raises is replicated and says so. `parameters` stand in the tree's own order, those below
/// one name together; only whether `ranks_differ` or `raises` is the reason depends on it. Names are taken literally; the
/// original takes them as regular expressions, which is the same for letters, digits and underscores.
/// Requires model_shards >= 1. Cost: parameters times rules.
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
