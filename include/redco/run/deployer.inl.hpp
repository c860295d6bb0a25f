#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/device_options.hpp>
#include <redco/run/stage_choices.hpp>

#include <redco/run/process_choices.hpp>
#include <redco/run/verified_loop.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/make_world.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/checkpoint_room.hpp>
#include <redco/options/overlap.hpp>
#include <redco/options/resolved.hpp>
#include <redco/options/zero_within.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace redco::run::detail {

/// Compares the values that `brought` returns on each rank of the world `all`. If values differ,
/// throws `error` on all processes, with the exit code that the compared values carry. The first
/// process prints the message.
inline void compare(comm::world& all, std::string_view member,
                    tensors::function_ref<comm::agreement(rank_context&)> brought) {
  std::string difference;
  exit_code code = exit_code::usage;
  all.run([&](rank_context& rank) {
    comm::agreement const own = brought(rank);
    std::string const text = own.difference(rank.world, member);
    if (!rank.first_of_process) return;
    difference = text;
    code = own.code();
  });
  if (difference.empty()) return;
  error const made(code, difference);
  throw options::launched().first() ? made : made.silenced();
}

inline comm::rank_options ranks_of(deployer_options const& o) {
  comm::rank_options ranks;
  ranks.threads = o.threads;
  ranks.deterministic = o.deterministic;
  // mesh_of refuses deadlines outside this range, after the processes have compared them.
  if (o.deadline && *o.deadline >= 0.001 && *o.deadline <= 1e8)
    ranks.first_deadline = ranks.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(*o.deadline * 1000));
  return ranks;
}

/// Compares the programs and options of all processes, then returns the options. The comparison
/// runs on one rank per process, because that needs no agreement on the options. Throws `error`
/// with exit code 64 on all processes if anything differs.
inline deployer_options compared(deployer_options options) {
  int const processes = options::launched().processes;
  if (processes == 1) return options;
  std::map<std::string, std::string> all = options::program_options();
  for (auto const& [flag, text] : options::agreed_options(options)) all[flag] = text;
  comm::agreement const opening = opening_agreement(program_digest(), at::show_config(), all);
  comm::rank_options ranks = ranks_of(options);
  ranks.threads = 0;
  auto const world = comm::make_process_world(mesh{.dp = processes}, ranks);
  compare(*world, "process", [&](rank_context&) { return opening; });
  return options;
}

/// Returns the mesh that the options request, with its groups of replicas that share out state.
/// Throws `error` with exit code 64 if the options contradict each other or this build of redco
/// cannot compute them.
inline options::grouped_mesh runnable_mesh(deployer_options const& o) {
  options::launch const& how = options::launched();
  return options::mesh_with_shares(o.zero_within, options::mesh_of(o), how.processes / how.processes_on_host, o.zero);
}

/// Returns what the replicas of the run share out. A recorded CUDA graph does not overlap messages.
inline shape::zero shared_state(deployer_options const& o) {
  return options::zero_of({.level = o.zero, .keep = o.zero_keep, .owner = o.zero_owner}, runnable_mesh(o),
                          options::launched().processes, o.cuda_graph ? std::optional(false) : o.overlap,
                          o.gradient_bucket);
}

/// Returns true if messages between model shards overlap with matrix products by default: if the
/// shards of a replica are on several hosts. Call it after the processes have connected. Returns
/// false for deterministic runs, because products cut into pieces may be rounded differently.
inline bool overlaps_shards_by_itself(mesh const& on, bool deterministic) {
  if (deterministic) return false;
  for (int rank = 0; rank < on.ranks(); ++rank)
    if (comm::on_host_of_rank(rank) != comm::on_host_of_rank(rank - rank % on.tp)) return true;
  return false;
}

/// Returns the dtype that the options request. Returns f64 for --verify without --dtype, because
/// rounding in f64 hides the fewest differences; empty for the device's default.
inline std::optional<dtype> wanted_dtype(deployer_options const& o) {
  return o.verify && !o.dtype ? std::optional(dtype::f64) : o.dtype;
}

/// Returns true if the model shards of one replica are in several processes.
inline bool shards_span_processes(mesh const& on) { return (on.ranks() / options::launched().processes) % on.tp != 0; }

}  // namespace redco::run::detail

namespace redco {

REDCO_INLINE deployer::deployer(deployer_options options)
    : options_(run::detail::compared(std::move(options))),
      mesh_(run::detail::runnable_mesh(options_).mesh),
      zero_(run::detail::shared_state(options_)),
      schedule_(run::schedule_of(options_, mesh_)),
      device_(run::devices_for(options_)),
      world_(comm::make_world(mesh_, run::detail::ranks_of(options_))),
      overlaps_shards_(options::overlaps_shards(
          mesh_, run::detail::overlaps_shards_by_itself(mesh_, options_.deterministic), options_.overlap)),
      dtype_(device_.type == tensors::cpu_device().type()
                 ? options::choose_dtype(run::detail::wanted_dtype(options_))
                 : options::choose_device_dtype(run::detail::wanted_dtype(options_), device_.multiplies_bf16)),
      output_(std::make_shared<run::run_output>(options_.quiet, speaks())),
      failures_(options_.workdir),
      crash_report_(tensors::words_of),
      waits_([output = output_](bool shortened) {
        output->log.quiet_line(shortened ? "other work wants the cores: OpenMP threads wait asleep"
                                         : "the cores are free again: OpenMP threads wait spinning");
      }) {
  diag::let_writes_fail();
  run::keep_for_summary(output_);
  if (options::launched().processes == 1) return;
  run::detail::compare(*world_, "rank", [this](rank_context&) {
    return run::agreement_of({.mesh = mesh_,
                              .zero = zero_,
                              .device = device_.type,
                              .compute = dtype_.compute,
                              .kernels = tensors::kernel_set_in_use(),
                              .overlaps_shards = overlaps_shards_,
                              .shards_span_processes = run::detail::shards_span_processes(mesh_),
                              .threads = at::get_num_threads(),
                              .instruction_set = at::get_cpu_capability(),
                              .bf16_products = tensors::bf16_path_in_use(),
                              .f32_products = tensors::f32_path_in_use()});
  });
}

REDCO_INLINE void deployer::agree(tensors::function_ref<void(comm::agreement&)> fill) {
  if (options::launched().processes == 1) return;
  comm::agreement values("settings or data", run::start_alike);
  fill(values);
  run::detail::compare(*world_, "rank", [&](rank_context&) { return values; });
}

REDCO_INLINE std::optional<run::verify_result> deployer::compared_runs(tensors::function_ref<void(rank_context&)> f,
                                                                       std::int64_t steps) {
  struct in_progress {
    std::shared_ptr<run::verified_loop>& loop;
    ~in_progress() { loop.reset(); }
  } const here{verified_};
  verified_ = std::make_shared<run::verified_loop>(*this, steps);
  if (!verified_->run(f)) return std::nullopt;
  return verified_->result();
}

REDCO_INLINE std::unique_ptr<comm::world> deployer::world_of_one() const {
  return std::make_unique<comm::thread_world>(redco::mesh{}, run::detail::ranks_of(options_));
}

REDCO_INLINE workdir::disk_limits deployer::disk_limits() const {
  return {.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options_.disk_deadline))};
}

REDCO_INLINE void deployer::keep_picture(std::string const& name, std::string const& svg) {
  if (options_.verify || !speaks()) return;
  try {
    report::save_picture(options_.workdir, name, svg);
  } catch (error const& e) {
    if (e.code() != exit_code::io) throw;
    log().warning(e.what());
  }
}

REDCO_INLINE void deployer::keep_images(std::string const& name, std::span<report::picture_tile const> images,
                                        std::int64_t step) {
  if (!speaks() || options_.verify) return;
  keep_picture(name, report::contact_sheet(images, name));
  if (!output_->images)
    output_->images.emplace(
        options_.workdir,
        log::event_writer_options{.warn = [&log = log()](std::string const& text) { log.warning(text); }});
  for (std::size_t i = 0; i < std::min<std::size_t>(images.size(), 8); ++i)
    output_->images->image(name + "/" + std::to_string(i),
                           {images[i].width, images[i].height, images[i].channels, report::png_of(images[i])}, step);
}

REDCO_INLINE void deployer::claim_workdir() {
  if (lock_ || !speaks() || options_.verify) return;
  workdir::checkpoint_room::check_folder(options_.workdir);
  lock_.emplace(options_.workdir);
  log().open(options_.workdir / "log.txt");
  crash_report_.keep(options_.workdir / "log.txt", failures_.file());
  output_->workdir = options_.workdir;
  page().mesh = options::to_text(mesh_);
  page().computing = device().str() + ", " + std::string(name_of(compute()));
  bool const on_cpu = device() == tensors::cpu_device();
  log().line(on_cpu
                 ? "device cpu: " + device_.why
                 : "device cuda: " + device_.why + ", the ranks of this host share " + std::to_string(device_.count));
  log().line(run::dtype_text(dtype_, device()));
}

}  // namespace redco
