#pragma once

#include <redco/shard/plan.hpp>

#include <redco/config.hpp>

namespace redco {

namespace detail {

REDCO_INLINE std::string illegal_mesh_message(parameter_fact const& fact, mesh const& m, std::vector<int> const& widths,
                                              std::string const& cure) {
  std::string list;
  for (int const n : widths) list += (list.empty() ? "" : ", ") + std::to_string(n);
  return "mesh " + std::to_string(m.dp) + "x" + std::to_string(m.tp) + ": " + std::string(fact.name.view()) + " has " +
         std::to_string(fact.units) + " units, which " + std::to_string(m.tp) +
         " model shards do not divide; legal widths are " + list + ": " + cure;
}

}  // namespace detail
}  // namespace redco
