#pragma once

#include <redco/shard/plan.hpp>

#include <redco/options/value_text.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/config.hpp>

#include <cstdint>

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

/// Returns the component of a parameter name that replaces the index of a block ("*" or a slice
/// such as "1::2"), or an empty text if there is none.
inline std::string_view number_in(std::string_view name) {
  std::size_t const mark = name.find_first_of("*:");
  if (mark == std::string_view::npos) return {};
  std::size_t const begin = name.rfind('.', mark) + 1;
  return name.substr(begin, name.find('.', mark) - begin);
}

REDCO_INLINE void expand(std::vector<placed_parameter> const& from, std::size_t level,
                         std::vector<placed_parameter>& to) {
  for (std::size_t i = 0; i < from.size();) {
    std::string_view const name = from[i].name, number = number_in(name);
    if (number.empty()) {
      to.push_back(from[i++]);
      continue;
    }
    auto const at = static_cast<std::size_t>(number.data() - name.data());
    std::string const prefix{name.substr(0, at)};
    fact::block_slice const first = from[i].plan.fact.blocks[level];
    std::vector<placed_parameter> row;
    while (i < from.size() && from[i].name.compare(0, at, prefix) == 0 &&
           number_in(from[i].name).data() == from[i].name.data() + at &&
           from[i].plan.fact.blocks[level].base == first.base)
      row.push_back(from[i++]);
    for (std::int64_t block = 0; block < first.times; ++block) {
      std::vector<placed_parameter> one;
      for (placed_parameter const& p : row) {
        if (!p.plan.fact.blocks[level].has(block)) continue;
        one.push_back(p);
        one.back().name.replace(at, number_in(p.name).size(), std::to_string(first.base + block));
      }
      expand(one, level + 1, to);
    }
  }
}

}  // namespace redco::shard::detail
