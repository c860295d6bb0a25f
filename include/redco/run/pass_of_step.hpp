#pragma once

#include <redco/run/deployer.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/rank_context.hpp>

#include <cstdint>

namespace redco::run {

/// Returns the pass (settings of a forward call) of step `step` on a rank. The caller adds the
/// examples of each micro-batch.
inline pass pass_of_step(deployer const& where, rank_context& rank, std::uint64_t seed, std::int64_t step,
                         bool training = true) {
  nn::pass_choices choices{.recompute = where.options().recompute};
  if (training && where.overlaps_shards() && rank.tp.size() > 1) choices.shard_lane = &rank.lane(shape::axis::tp);
  return training ? nn::training_pass(rank, seed, step, choices) : nn::evaluation_pass(rank, seed, step, choices);
}

}  // namespace redco::run
