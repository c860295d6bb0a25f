#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/options/overlap.hpp>
#include <redco/options/value_text.hpp>
#include <redco/options/zero_within.hpp>
#include <redco/log/text.hpp>
#include <redco/shape/zero.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>

namespace redco::options {

REDCO_INLINE mesh mesh_of(deployer_options const& o, launch const& how) {
  constexpr std::int64_t most_threads = 1024;
  auto const refuse = [](std::string const& message) { throw error(exit_code::usage, message); };
  std::int64_t const of_replica = std::int64_t{o.n_model_shards} * o.n_pipeline_stages;
  if (of_replica > most_threads)
    refuse("--n-pipeline-stages " + std::to_string(o.n_pipeline_stages) + " of --n-model-shards " +
           std::to_string(o.n_model_shards) + " ranks each: give at most " + std::to_string(most_threads) +
           " ranks per replica");
  int const ranks_by_default = how.processes > 1 ? how.processes : static_cast<int>(of_replica);
  mesh const m = o.mesh ? *o.mesh : mesh_of(o.ranks.value_or(ranks_by_default), o.n_model_shards, o.n_pipeline_stages);
  std::int64_t const ranks = m.ranks();
  std::string const text = to_text(m);
  for (shape::axis const a : shape::all_axes)
    if (m[a] < 1) refuse("--mesh " + text + " has no ranks: give numbers from 1 on");
  if (ranks % how.processes != 0)
    refuse(how.launcher + " started " + std::to_string(how.processes) + " processes for the " + std::to_string(ranks) +
           (ranks == 1 ? " rank" : " ranks") + " of mesh " + text +
           ": each has as many ranks, so start a process for each rank, or a divisor of them");
  std::int64_t const here = ranks / how.processes;
  if (here > most_threads)
    refuse("--mesh " + text + " asks for " + std::to_string(here) +
           " ranks, each a thread of this process: give at most " + std::to_string(most_threads));
  if (o.threads < 0 || o.threads * here > most_threads)
    refuse("--threads " + std::to_string(o.threads) + " on each of " + std::to_string(here) +
           " ranks: give 0 for the cores divided by the ranks, or at most " + std::to_string(most_threads) +
           " over all ranks of a process");
  if (o.deadline && !(*o.deadline >= 0.001 && *o.deadline <= 1e8))
    refuse("--deadline " + log::short_text(*o.deadline, 4) + ": give the seconds that a rank waits, from 0.001 to 1e8");
  if (!(o.disk_deadline >= 0.001 && o.disk_deadline <= 1e8))
    refuse("--disk-deadline " + log::short_text(o.disk_deadline, 4) +
           ": give the seconds that a rank waits for another rank's disk, from 0.001 to 1e8");
  if (!(o.save_patience >= 0 && o.save_patience <= 1e8))
    refuse("--save-patience " + log::short_text(o.save_patience, 4) +
           ": give the seconds that the last save waits for room, from 0 to 1e8");
  shape::check_zero(o.zero, o.zero_keep);
  shape::check_zero_owner(o.zero_owner, o.zero);
  // Throws for a group of replicas that the run does not have
  mesh_with_shares(o.zero_within, m, how.processes / how.processes_on_host, o.zero);
  // Throws for an invalid bucket size or overlap
  gradient_bucket(m, how.processes, o.overlap, o.gradient_bucket, o.zero, o.zero_owner);
  return m;
}

}  // namespace redco::options
