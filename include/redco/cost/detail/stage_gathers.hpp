#pragma once

#include <redco/cost/detail/shared_buffers.hpp>
#include <redco/cost/host_load.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/shares.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// Returns, for each block of the model, how many times a stage gathers its values in a step, if
/// the first `keep` blocks of the model stay gathered. `order`: the stage's computations.
constexpr std::vector<std::int64_t> gathers_of_blocks(std::vector<schedule::stage_op> const& order,
                                                      shape::stage_cuts const& cuts, std::int64_t keep) {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < cuts.blocks(cuts.size() - 1).end; ++i) times.push_back(0);
  std::int64_t last = -1;  // block that is in memory and not kept; -1 for none
  for (schedule::stage_op const& one : order) {
    if (one.work == schedule::stage_work::weight_gradients) continue;
    shape::block_range const blocks = cuts.blocks(one.chunk);
    for (std::int64_t i = blocks.begin; i < blocks.end; ++i) {
      std::int64_t const block = one.work == schedule::stage_work::forward ? i : blocks.end - 1 - (i - blocks.begin);
      std::int64_t& count = times[static_cast<std::size_t>(block)];
      if (block >= keep && block != last) ++count;
      if (block < keep) count = 1;
      last = block < keep ? -1 : block;
    }
  }
  return times;
}

/// Adds the gathers of values of a pipeline stage in a step to `m`, if the replicas keep shares of
/// the values. `buffers` are those of the stage, and `table` has the computations of all stages.
constexpr void add_gathers(messages& m, shared_buffers const& buffers, schedule::pipeline_table const& table,
                           shape::stage_cuts const& cuts, setup const& s, int stage) {
  if (!buffers.zero.shares_values()) return;
  std::vector<std::int64_t> const times =
      gathers_of_blocks(table.of_stage[static_cast<std::size_t>(stage)], cuts, buffers.zero.keep);
  for (shared_part const& part : buffers.parts) {
    std::int64_t calls = part.first < 0 ? 1 : 0;
    for (std::int64_t i = part.first; i >= 0 && i <= part.last(); i += part.step)
      calls += times[static_cast<std::size_t>(i)];
    for (shard::shared_range const& one : part.shares)
      if (one.ranks > 1)
        m.total({{}, messages::name_of_parameters, one.over, shape::collective::all_gather, one.ranks})
            .add(calls, one.size() * shape::size_of(s.compute), host_load({s.mesh, s.hosts}, one.over));
  }
}

}  // namespace redco::cost::detail
