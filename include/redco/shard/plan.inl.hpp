#pragma once

#include <redco/shard/plan.hpp>

#include <redco/options/value_text.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>

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

/// Returns the cut of a model with `blocks` blocks into `chunks` chunks of consecutive blocks,
/// where `asked` has the number of blocks of each chunk. `of_stages` names the chunks in messages.
/// Throws `error` with exit code 64 if the numbers do not fit.
inline shape::stage_cuts asked_stages(std::vector<std::int64_t> const& asked, std::int64_t blocks, std::int64_t chunks,
                                      std::string const& of_stages) {
  if (cuts_blocks(asked, blocks, chunks)) return shape::stage_cuts::of(asked);
  std::string text;
  for (std::int64_t const one : asked) text += (text.empty() ? "" : ",") + std::to_string(one);
  throw error(exit_code::usage, "stages " + text + ": the model has " + std::to_string(blocks) +
                                    " blocks and the run " + std::to_string(chunks) + of_stages + "; give " +
                                    std::to_string(chunks) + " numbers from 1 on whose sum is " +
                                    std::to_string(blocks));
}

}  // namespace redco::shard::detail

namespace redco::shard {

REDCO_INLINE shape::stage_cuts stages_of(fact::program const& of, mesh const& on,
                                         std::vector<std::int64_t> const& asked, int chunks_per_stage) {
  if (on.pp == 1 && asked.size() < 2) return {};
  if (!of.has_cuttable_rows)
    throw error(exit_code::usage, "mesh " + options::to_text(on) + ": the blocks '" +
                                      std::string(of.repeat_in_branch.view()) +
                                      "' are inside a branch, such as redco::residual, which pipeline stages cannot "
                                      "share; give 1 stage with --n-pipeline-stages, or put the branch into the block");
  std::vector<std::int64_t> const work = work_of_blocks(of);
  std::int64_t const chunks = std::int64_t{on.pp} * chunks_per_stage;
  std::int64_t const most_chunks = std::min<std::int64_t>(std::ssize(work), shape::stage_cuts::most_chunks);
  if (asked.empty() && chunks > most_chunks) {
    std::int64_t const most = std::min<std::int64_t>(most_chunks / chunks_per_stage, shape::stage_cuts::most_stages);
    throw error(exit_code::usage,
                "mesh " + options::to_text(on) + ": a pipeline stage runs at least one block" +
                    (chunks_per_stage > 1 ? " in each of " + std::to_string(chunks_per_stage) + " chunks" : "") +
                    ", and the model has " + std::to_string(work.size()) + " blocks for " + std::to_string(on.pp) +
                    " stages; give " +
                    (most < 2 ? std::string("1 stage") : "1 to " + std::to_string(most) + " stages") +
                    " with --n-pipeline-stages");
  }
  shape::stage_cuts cuts =
      asked.empty() ? balanced_stages(work, static_cast<int>(chunks))
                    : detail::asked_stages(asked, std::ssize(work), chunks,
                                           chunks_per_stage > 1 ? " chunks of pipeline stages" : " pipeline stages");
  cuts.deal(on.pp);
  return cuts;
}

}  // namespace redco::shard

namespace redco::shard::detail {

REDCO_INLINE dynamic_plan plan_from(fact::program const& of, mesh const& on, std::vector<std::int64_t> const& asked,
                                    int chunks_per_stage) {
  std::vector<fact::parameter_fact> const& facts = of.parameters;
  if (!plannable(on))
    throw error(exit_code::usage, "mesh " + options::to_text(on) +
                                      ": give at least 1 rank along each axis, and at most " +
                                      std::to_string(shape::stage_cuts::most_stages) + " pipeline stages");
  if (std::size_t const bad = first_illegal(facts, on); bad < facts.size())
    throw error(exit_code::usage, illegal_mesh_message(facts, bad, on));
  dynamic_plan result{on, {}, stages_of(of, on, asked, chunks_per_stage)};
  for (fact::parameter_fact const& fact : facts) result.entries.push_back({fact, on});
  return result;
}

REDCO_INLINE void check_parts_of_sequences(mesh const& on, bool divides) {
  if (on.cp == 1 || divides) return;
  throw error(exit_code::usage,
              "mesh " + options::to_text(on) +
                  ": the model has a layer that needs whole sequences, and cp divides them (causal and full attention "
                  "and layers of single tokens do not); give cp=1");
}

/// Returns the component of a parameter name that replaces the index of a block ("*" or a slice
/// such as "1::2"), or an empty text if there is none.
inline std::string_view number_in(std::string_view name) {
  std::size_t const mark = name.find_first_of("*:");
  if (mark == std::string_view::npos) return {};
  std::size_t const begin = name.rfind('.', mark) + 1;
  return name.substr(begin, name.find('.', mark) - begin);
}

REDCO_INLINE void expand(std::vector<placed_parameter> const& from, shape::stage_cuts const& stages, std::size_t level,
                         std::vector<placed_parameter>& to) {
  for (std::size_t i = 0; i < from.size();) {
    std::string_view const name = from[i].name, number = number_in(name);
    if (number.empty()) {
      to.push_back(from[i++]);
      if (level == 0) to.back().plan.stages = to.back().plan.fact.stages(stages, 0);
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
        if (level == 0) {
          one.back().plan.stages = p.plan.fact.stages(stages, first.base + block);
          one.back().plan.block = p.plan.fact.blocks_before + first.base + block;
        }
      }
      expand(one, stages, level + 1, to);
    }
  }
}

}  // namespace redco::shard::detail
