#pragma once

#include <redco/shard/entry.hpp>
#include <redco/shard/facts.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// One entry per parameter of a model on a mesh, each with its reason. `Entries` is a std::array for a constexpr model and
/// a std::vector for one whose sizes are read at run time.
template <class Entries>
struct plan {
  redco::mesh mesh;
  Entries entries{};
};

using dynamic_plan = plan<std::vector<shard::entry>>;  ///< of a model whose sizes are read at run time

/// Whether a model can be planned on the mesh: there are ranks, and one pipeline stage, since no plan cuts a model into stages.
constexpr bool plannable(mesh const& on) { return on.pp == 1 && on.dp > 0 && on.ep > 0 && on.tp > 0; }

/// The first parameter that the mesh cannot hold, or facts.size().
template <class Facts>
constexpr std::size_t first_illegal(Facts const& facts, mesh const& on) {
  std::size_t at = 0;
  while (at < facts.size() && shard::can_split(facts[at], on)) ++at;
  return at;
}

/// A mesh of `ranks` ranks along one axis.
constexpr mesh line_of(axis along, int ranks) {
  mesh line;
  line[along] = ranks;
  return line;
}

/// The numbers of ranks along an axis, up to `limit`, that every parameter allows, in rising order; by default numbers of model
/// shards.
template <class Facts>
std::vector<int> legal_widths(Facts const& facts, int limit = 64, axis along = axis::tp) {
  std::vector<int> widths;
  for (int n = 1; n <= limit; ++n)
    if (first_illegal(facts, line_of(along, n)) == facts.size()) widths.push_back(n);
  return widths;
}

}  // namespace redco

namespace redco::shard::detail {

std::string illegal_mesh_message(fact::parameter_fact const& fact, mesh const& on, std::vector<int> const& widths,
                                 std::string const& cure);

/// Why a mesh cannot hold parameter `bad`, and what it could be.
template <class Facts>
std::string illegal_mesh_message(Facts const& facts, std::size_t bad, mesh const& on, std::string cure = "") {
  axis const along = illegal_place(facts[bad], on).axis;
  if (cure.empty()) cure = along == axis::tp ? "choose one with --n-model-shards" : "choose one with --mesh";
  return illegal_mesh_message(facts[bad], on, legal_widths(facts, 64, along), cure);
}

/// The plan of these parameters, in this order. Errors: those of plan_of.
dynamic_plan plan_from(std::vector<fact::parameter_fact> const& facts, mesh const& on);

}  // namespace redco::shard::detail

namespace redco {

/// The plan of a model whose sizes are known at run time.
/// Errors: exit code 64 with the legal widths when the mesh cannot hold the model, and for pipeline stages.
template <model M>
dynamic_plan plan_of(M const& m, mesh const& on) {
  return shard::detail::plan_from(facts_of(m).parameters, on);
}

/// The plan of a constexpr model; requires legal<Model, on>.
template <auto const& Model>
constexpr auto plan_of(mesh const& on) {
  constexpr auto const& facts = constant_facts_of<Model>.parameters;
  plan<std::array<shard::entry, facts.size()>> result{on, {}};
  for (std::size_t i = 0; i < facts.size(); ++i) result.entries[i] = {facts[i], on};
  return result;
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/shard/plan.inl.hpp>
#endif
