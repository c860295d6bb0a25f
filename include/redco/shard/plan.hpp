#pragma once

#include <redco/shard/entry.hpp>
#include <redco/shard/facts.hpp>
#include <redco/shard/stages.hpp>
#include <redco/model/model.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::shard {

/// A plan: the split of every parameter of a model over a mesh, one entry per parameter with its
/// reason. `Entries` is a std::array for constexpr models and a std::vector otherwise.
template <class Entries>
struct plan {
  redco::mesh mesh;
  Entries entries{};
  shape::stage_cuts stages = {};  ///< Blocks of each pipeline stage
};

/// Plan (split of every parameter) of a model whose sizes are known only at run time
using dynamic_plan = plan<std::vector<entry>>;

/// Returns true if plans support the mesh: each axis has at least one rank, and there are at most
/// 64 pipeline stages.
constexpr bool plannable(mesh const& on) {
  for (shape::axis const a : shape::all_axes)
    if (on[a] < 1) return false;
  return on.pp <= shape::stage_cuts::most_stages;
}

/// Returns the index of the first parameter in `facts` that the mesh cannot hold, or facts.size()
/// if it can hold all.
template <class Facts>
constexpr std::size_t first_illegal(Facts const& facts, mesh const& on) {
  std::size_t at = 0;
  while (at < facts.size() && can_split(facts[at], on)) ++at;
  return at;
}

/// Returns a mesh of `ranks` ranks along the axis `along`, and one rank along each other axis.
constexpr mesh line_of(shape::axis along, int ranks) {
  mesh line;
  line[along] = ranks;
  return line;
}

/// Returns, in ascending order, the numbers of ranks up to `limit` along one mesh axis over which
/// every parameter in `facts` can be cut. The default axis is tp (model shards).
template <class Facts>
std::vector<int> legal_widths(Facts const& facts, int limit = 64, shape::axis along = shape::axis::tp) {
  std::vector<int> widths;
  for (int n = 1; n <= limit; ++n)
    if (first_illegal(facts, line_of(along, n)) == facts.size()) widths.push_back(n);
  return widths;
}

/// Returns the cut of a model's blocks into the pipeline stages of the mesh `on`. `asked` has the
/// number of blocks of each chunk of a stage; empty: balanced. Throws `error` with exit code 64 if
/// there are more chunks than blocks, if the blocks are inside a branch, or if `asked` does not
/// fit.
shape::stage_cuts stages_of(fact::program const& of, mesh const& on, std::vector<std::int64_t> const& asked,
                            int chunks_per_stage = 1);

}  // namespace redco::shard

namespace redco::shard::detail {

std::string illegal_mesh_message(fact::parameter_fact const& fact, mesh const& on, std::vector<int> const& widths,
                                 std::string const& cure);

/// Returns the text of the error that the mesh `on` cannot hold the parameter with index `bad` in
/// `facts`. The text lists the legal numbers of ranks and ends with the advice `cure` (by default,
/// to choose one of them).
template <class Facts>
std::string illegal_mesh_message(Facts const& facts, std::size_t bad, mesh const& on, std::string cure = "") {
  shape::axis const along = illegal_place(facts[bad], on).axis;
  if (cure.empty()) cure = along == shape::axis::tp ? "choose one with --n-model-shards" : "choose one with --mesh";
  return illegal_mesh_message(facts[bad], on, legal_widths(facts, 64, along), cure);
}

/// Returns the plan (the split of each parameter over the mesh) for a model's program. Throws the
/// errors of stages_of() and plan_of().
dynamic_plan plan_from(fact::program const& of, mesh const& on, std::vector<std::int64_t> const& asked,
                       int chunks_per_stage);

/// Throws `error` with exit code 64 if ranks along cp would compute parts of sequences and
/// `divides` is false: a layer of the model needs whole ones.
void check_parts_of_sequences(mesh const& on, bool divides);

}  // namespace redco::shard::detail

namespace redco {

/// Returns the plan (the split of each parameter over the mesh) of a model whose sizes are known at
/// run time. `stages` is the number of blocks of each chunk (consecutive blocks); if it is empty,
/// all chunks get about equal work. Each stage runs `chunks_per_stage` chunks. Throws `error` with
/// exit code 64 if the mesh cannot hold the model or `stages` does not fit the model; the message
/// lists the legal numbers of ranks or stages. Throws it also for ranks along cp if a layer of the
/// model needs whole sequences.
template <model M>
shard::dynamic_plan plan_of(M const& m, mesh const& on, std::vector<std::int64_t> const& stages = {},
                            int chunks_per_stage = 1) {
  shard::detail::check_parts_of_sequences(on, layers::divides_sequences<models::net_of<M>>);
  return shard::detail::plan_from(shard::facts_of(m), on, stages, chunks_per_stage);
}

/// Returns the plan (the split of each parameter over the mesh) of a constexpr model. Requires
/// legal<Model, on> (the mesh can hold the model).
template <auto const& Model>
constexpr auto plan_of(mesh const& on) {
  constexpr auto const& facts = shard::constant_facts_of<Model>.parameters;
  shard::plan<std::array<shard::entry, facts.size()>> result{on, {}, {}};
  for (std::size_t i = 0; i < facts.size(); ++i) result.entries[i] = {facts[i], on};
  if (on.pp > 1)
    result.stages = shard::balanced_stages(shard::work_of_blocks(shard::detail::record(Model, workload{})), on.pp);
  return result;
}

}  // namespace redco

namespace redco::shard {

/// A parameter of one block: the entry of the plan, under the full name with the index of the block
/// ("h.3.attn.q.weight") instead of "*".
struct placed_parameter {
  std::string name;
  entry plan;
};

}  // namespace redco::shard

namespace redco::shard::detail {

void expand(std::vector<placed_parameter> const& from, shape::stage_cuts const& stages, std::size_t level,
            std::vector<placed_parameter>& to);

}  // namespace redco::shard::detail

namespace redco::shard {

/// Returns the parameters of a plan with one element per repeated block, block after block. Within
/// a block, they are in the order in which layers declare them. Each element states the pipeline
/// stages that hold the parameter.
template <class Entries>
std::vector<placed_parameter> placed_parameters(plan<Entries> const& p) {
  std::vector<placed_parameter> named, result;
  for (entry const& e : p.entries) named.push_back({std::string(e.fact.name.view()), e});
  detail::expand(named, p.stages, 0, result);
  return result;
}

}  // namespace redco::shard

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/shard/plan.inl.hpp>
#endif
