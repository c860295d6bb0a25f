#pragma once

#include <redco/shard/plan.hpp>

#include <redco/options/mesh_text.hpp>
#include <redco/config.hpp>

namespace redco::shard::detail {

REDCO_INLINE std::string illegal_mesh_message(fact::parameter_fact const& fact, mesh const& on,
                                              std::vector<int> const& widths, std::string const& cure) {
  shape::place const broken = illegal_place(fact, on);
  std::string list;
  for (int const n : widths) list += (list.empty() ? "" : ", ") + std::to_string(n);
  return "mesh " + options::to_text(on) + ": " + std::string(fact.name.view()) + " has " +
         std::to_string(broken.units) + " units, which " + std::to_string(on[broken.axis]) +
         (broken.axis == shape::axis::tp ? " model shards" : " ranks along " + std::string(name_of(broken.axis))) +
         " do not divide; legal widths are " + list + ": " + cure;
}

REDCO_INLINE dynamic_plan plan_from(std::vector<fact::parameter_fact> const& facts, mesh const& on) {
  if (!plannable(on))
    throw error(exit_code::usage,
                "mesh " + options::to_text(on) +
                    ": no plan cuts a model into pipeline stages yet; give pp 1 and the other axes at "
                    "least 1");
  if (std::size_t const bad = first_illegal(facts, on); bad < facts.size())
    throw error(exit_code::usage, illegal_mesh_message(facts, bad, on));
  dynamic_plan result{on, {}};
  for (fact::parameter_fact const& fact : facts) result.entries.push_back({fact, on});
  return result;
}

}  // namespace redco::shard::detail
