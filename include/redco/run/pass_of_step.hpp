#pragma once

#include <redco/run/deployer.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/rank_context.hpp>

#include <cstdint>

namespace redco::run {

/// Returns the pass of a step on a rank, without examples yet.
inline pass pass_of_step(deployer const& where, rank_context& rank, std::uint64_t seed, std::int64_t step,
                         bool training = true) {
  pass in;
  in.tp = &rank.tp;
  in.rank = &rank;
  in.round.ranks = &rank.group(batch_axes);
  in.training = training;
  in.recompute = where.options().recompute;
  in.seed = seed;
  in.step = static_cast<std::uint64_t>(step);
  if (training && where.overlaps_shards() && rank.tp.size() > 1) in.shard_lane = &rank.lane(axis::tp);
  return in;
}

}  // namespace redco::run
