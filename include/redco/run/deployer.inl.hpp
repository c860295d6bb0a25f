#pragma once

#include <redco/run/deployer.hpp>

#include <redco/run/dtype_text.hpp>
#include <redco/comm/make_world.hpp>
#include <redco/comm/rank_options.hpp>
#include <redco/comm/rank_places.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/workdir/checkpoint_room.hpp>
#include <redco/options/gradient_bucket.hpp>
#include <redco/options/overlaps_shards.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace redco::run::detail {

/// The mesh of options that this build can compute. Errors: exit code 64.
inline mesh runnable_mesh(deployer_options const& o) {
  mesh const m = mesh_of(o);
  if (kernel_set_in_use() == kernel_set::composed && o.check_saved)
    throw error(exit_code::usage,
                "--check-saved compares with what the fastest kernels keep: unset REDCO_KERNELS in the environment");
  return m;
}

/// The devices of options, set up as they say. Errors: exit code 64.
inline device_choice devices_for(deployer_options const& o) {
  device_choice found = choose_device(o.device);
  if (found.type != host_device().type()) multiply_in_tf32(o.tf32);
  else if (o.tf32)
    throw error(exit_code::usage, "--tf32 is for products on CUDA devices, and the CPU computes here (" + found.why +
                                      "): leave it out, or give --device cuda");
  if (o.cuda_graph && !device_graph::maker_in_use().serves(found.of_rank(0)))
    throw error(exit_code::usage, "--cuda-graph is for CUDA devices, and the CPU computes here (" + found.why +
                                      "): leave it out, or give --device cuda");
  if (o.cuda_graph && o.overlap.value_or(false))
    throw error(exit_code::usage,
                "--cuda-graph and --overlap exclude each other: a recorded backward cannot send gradients meanwhile");
  return found;
}

inline std::unique_ptr<comm::world> world_of(mesh const& on, deployer_options const& o) {
  rank_options ranks;
  ranks.threads = o.threads;
  ranks.deterministic = o.deterministic;
  if (o.deadline)
    ranks.first_deadline = ranks.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(*o.deadline * 1000));
  return comm::make_world(on, ranks);
}

/// Whether the shards of a replica are on several hosts, as all processes know once they have met. Products made in runs may be rounded
/// otherwise than whole ones, so that a deterministic run has to ask for them.
inline bool overlaps_shards_by_itself(mesh const& on, bool deterministic) {
  if (deterministic) return false;
  for (int rank = 0; rank < on.ranks(); ++rank)
    if (comm::place_of_rank(rank) != comm::place_of_rank(rank - rank % on.tp)) return true;
  return false;
}

}  // namespace redco::run::detail

namespace redco {

REDCO_INLINE deployer::deployer(deployer_options options)
    : options_(std::move(options)),
      mesh_(run::detail::runnable_mesh(options_)),
      gradient_bucket_(options::gradient_bucket(mesh_, options::launched().processes,
                                                options_.cuda_graph ? std::optional(false) : options_.overlap,
                                                options_.gradient_bucket)),
      device_(run::detail::devices_for(options_)),
      world_(run::detail::world_of(mesh_, options_)),
      overlaps_shards_(options::overlaps_shards(
          mesh_, run::detail::overlaps_shards_by_itself(mesh_, options_.deterministic), options_.overlap)),
      dtype_(device_.type == host_device().type() ? choose_dtype(options_.dtype)
                                                  : choose_device_dtype(options_.dtype, device_.multiplies_bf16)),
      output_(std::make_shared<run::run_output>(options_.quiet, speaks())),
      failures_(options_.workdir),
      last_words_(words_of),
      waits_([output = output_](bool shortened) {
        output->log.quiet_line(shortened ? "other work wants the cores: OpenMP threads wait asleep"
                                         : "the cores are free again: OpenMP threads wait spinning");
      }) {
  diag::let_writes_fail();
  run::keep_for_end(output_);
}

REDCO_INLINE void deployer::claim_workdir() {
  if (lock_ || !speaks()) return;
  workdir::checkpoint_room::check_folder(options_.workdir);
  lock_.emplace(options_.workdir);
  log().open(options_.workdir / "log.txt");
  last_words_.keep(options_.workdir / "log.txt", failures_.file());
  bool const on_cpu = device() == host_device();
  log().line(on_cpu
                 ? "device cpu: " + device_.why
                 : "device cuda: " + device_.why + ", the ranks of this host share " + std::to_string(device_.count));
  log().line(run::dtype_text(dtype_, device()));
}

}  // namespace redco
