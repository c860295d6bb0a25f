#pragma once

// A step over the flat buffers of all parameters, one by one, in runs whose replicas keep shares of
// the parameters (ZeRO 3).

#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/owners.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shard/shares.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/traffic.hpp>
#include <redco/shape/zero.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace zero_plan_test {

using namespace redco;

inline gpt2 const tied{{.vocab = 53, .context = 16, .width = 12, .heads = 2, .layers = 4}};

/// The flat buffers of a rank, in which each block has regions of its own, and a step's walk over
/// the blocks.
struct walk {
  shard::regions regions;
  std::vector<shard::shared_range> shares;
  std::int64_t blocks = 0;
  /// Elements of the values of each block; those of layers outside blocks have the key -1
  std::map<std::int64_t, std::int64_t> values;
  std::map<unsigned, shape::traffic::entry> gathers, sums;
  std::set<std::int64_t> whole;  ///< blocks whose values are in memory

  /// Elements that the replica with most bytes keeps, if matrices belong to replicas: all, and
  /// trained ones
  std::pair<std::int64_t, std::int64_t> most_kept;
  std::int64_t first_kept = 0;  ///< trained elements that the first replica keeps

  /// `owns_all`: true if all parameters belong to replicas with zero_owner::whole
  template <class Model>
  walk(Model const& model, cost::setup const& s, int stage = 0, bool owns_all = false) {
    auto const plan = plan_of(model, s.mesh, {}, s.stages.chunks_per_stage);
    auto const placed = shard::placed_parameters(plan);
    std::vector<shard::owned_parameter> owned;
    shape::axes const over = s.zero.shared_over;
    shape::zero const zero =
        shape::zero{.level = 3, .shared_over = over, .owner = s.zero.owner, .owns_all = owns_all}.on(s.mesh);
    for (shard::placed_parameter const& p : placed) {
      if (!p.plan.is_held_by(stage * s.mesh.ranks() / s.mesh.pp)) continue;
      owned.push_back(shard::owned_parameter_of(p.plan.fact, s.mesh, p.plan.fact.trained, zero, p.plan.block));
      regions.add(shard::region_of(p.plan, p.plan.fact.trained, {.level = 3}), p.plan.local().count());
      blocks = std::max(blocks, p.plan.block + 1);
    }
    regions = shard::padded_for_shares(regions, s.mesh, over);
    // Stages sum after all backwards, each range of equal shares at once.
    std::int64_t const bucket = s.zero.bucket > 0 || s.mesh.pp > 1 ? s.zero.bucket : shape::zero::default_bucket;
    shares = shard::shares_of(regions, s.mesh, bucket / shape::size_of(s.compute), over);
    first_kept = kept(true);
    if (s.zero.owner == shape::zero_owner::whole)
      take_owned(shard::owned_layout(owned, s.mesh, bucket / shape::size_of(s.compute), over), s);
    for (shard::region const& one : regions) values[one.block] += one.size();
    take(-1, s);
    auto const table = schedule::table_of(schedule::step_facts{.micro_batches = s.micro_batches,
                                                               .stages = s.mesh.pp,
                                                               .schedule = s.stages.schedule,
                                                               .chunks_per_stage = s.stages.chunks_per_stage});
    for (schedule::stage_op const& one : table.of_stage[static_cast<std::size_t>(stage)]) {
      shape::block_range const own = s.mesh.pp == 1 ? shape::block_range{0, blocks} : plan.stages.blocks(one.chunk);
      bool const forward = one.work == schedule::stage_work::forward;
      for (std::int64_t i = own.begin; i < own.end; ++i) take(forward ? i : own.end - 1 - (i - own.begin), s);
      bool const sums_now = s.mesh.pp == 1 ? !forward : &one == &table.of_stage[static_cast<std::size_t>(stage)].back();
      for (shard::shared_range const& range : shares)
        if (sums_now && range.begin < regions.trained()) add(sums, range, s);
    }
  }

  void take_owned(shard::owned_layout const& layout, cost::setup const& s) {
    regions = layout.regions;
    shares = layout.shares;
    std::int64_t const element = shape::size_of(s.compute), master = shape::size_of(cost::accumulate_type(s.compute));
    std::int64_t most = 0;
    for (std::size_t replica = 0; static_cast<int>(replica) < s.mesh.size(s.zero.shared_over); ++replica) {
      std::int64_t all = 0, trained = 0;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        all += layout.kept[i][replica];
        if (shares[i].begin < regions.trained()) trained += layout.kept[i][replica];
      }
      if (replica == 0) first_kept = trained;
      std::int64_t const bytes = all * (element + (element == master ? 0 : master)) + trained * (element + 2 * master);
      if (bytes > most) most = bytes, most_kept = {all, trained};
    }
  }

  /// Drops all other blocks that are not kept, and gathers the block unless it is in memory.
  void take(std::int64_t block, cost::setup const& s) {
    std::erase_if(whole, [&](std::int64_t other) { return other != block && other >= s.zero.keep; });
    if (!whole.insert(block).second) return;
    for (shard::shared_range const& one : shares)
      if (block_of(one) == block) add(gathers, one, s);
  }

  std::int64_t block_of(shard::shared_range const& one) const {
    return regions.begin()[regions.index_at(one.begin)].block;
  }
  std::int64_t kept(bool trained) const {
    std::int64_t sum = 0;
    if (most_kept.first > 0) return trained ? most_kept.second : most_kept.first;
    for (shard::shared_range const& one : shares)
      if (!trained || one.begin < regions.trained()) sum += one.share();
    return sum;
  }

  static void add(std::map<unsigned, shape::traffic::entry>& to, shard::shared_range const& one, cost::setup const& s) {
    if (one.ranks == 1) return;
    to[one.over.bits].calls += 1;
    to[one.over.bits].payload_bytes += one.size() * shape::size_of(s.compute);
  }
};

}  // namespace zero_plan_test
