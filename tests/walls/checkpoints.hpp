#pragma once

#include "torch_catch.hpp"

#include "temporary_folder.hpp"
#include "walls/training.hpp"

#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>
#include <vector>

namespace walls {

/// Checks that a checkpoint of `Model` on each mesh of `some` loads on each of them, bit for bit.
template <model Model>
void check_checkpoints(std::vector<mesh> const& some) {
  auto const state_on = [](mesh const& on, std::uint64_t seed, rank_context const& rank) {
    return run::trained_network<Model>({}, plan_of(Model{}, on), adamw{}, dtype::f64, seed, rank.rank, {});
  };
  for (mesh const& from : some)
    for (mesh const& to : some) {
      INFO(name_of(from) << " to " << name_of(to));
      temporary_folder const folder;
      comm::run_ranks(from, {.threads = 1}, [&](rank_context& rank) {
        auto const state = state_on(from, 5, rank);
        workdir::save_options options{.workdir = folder.path, .facts = {}};
        options.facts.run = "a";
        options.facts.step = 1;
        options.facts.mesh = from;
        ckpt::save_checkpoint(options, state.parts(), rank.world);
      });
      comm::run_ranks(to, {.threads = 1}, [&](rank_context& rank) {
        auto const wanted = state_on(to, 5, rank), state = state_on(to, 6, rank);
        auto const found = ckpt::find_checkpoint(rank.world, folder.path, "auto");
        sharded::must(found && found->facts.mesh == from, "the mesh that saved");
        ckpt::load_checkpoint(*found, state.parts(), rank.world);
        sharded::must(state.store.values().equal(wanted.store.values()), "bit for bit");
      });
    }
}

}  // namespace walls
