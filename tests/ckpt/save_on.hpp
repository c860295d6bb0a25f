#pragma once

#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/comm/thread_world.hpp>

#include "sharded_state.hpp"
#include "workdir/recording_ops.hpp"

#include <cstdint>
#include <filesystem>

namespace ckpt_test {

inline redco::workdir::save_options saving(std::filesystem::path const& workdir, redco::mesh const& mesh,
                                           std::int64_t step) {
  redco::workdir::save_options options{.workdir = workdir, .facts = {}};
  options.facts.run = "run-a";
  options.facts.step = step;
  options.facts.mesh = mesh;
  return options;
}

/// Saves the sharded state through calls that `ops` records.
inline void save_on(redco::mesh const& mesh, redco::workdir::save_options const& options, recording_ops& ops) {
  redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
    auto const parts = sharded_state(mesh, rank.rank, true);
    redco::ckpt::save_checkpoint_with(ops, options, parts, rank.world);
  });
}

}  // namespace ckpt_test
