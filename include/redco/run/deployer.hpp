#pragma once

#include <redco/run/run_output.hpp>
#include <redco/run/stage_choices.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/wait_policy.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/report/run_page.hpp>
#include <redco/workdir/disk_limits.hpp>
#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/workdir/workdir_lock.hpp>
#include <redco/options/chosen_dtype.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/zero_within.hpp>
#include <redco/log/console.hpp>
#include <redco/log/run_log.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/crash_report.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/diag/signals.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace redco {

class deployer;

}  // namespace redco

namespace redco::run {

class verified_loop;
class computing_in;

/// Prints the result of --verify on standard output, then throws `error`: with exit code 0 if
/// nothing differs, else with exit code 1.
[[noreturn]] void end_verification(deployer& where, verify_result const& result);

}  // namespace redco::run

namespace redco {

/// The environment in which a program runs: its mesh of ranks, workdir, log and signals. A process
/// has one at a time; trainers and predictors hold references to it. All processes that a launcher
/// started share one deployer; the first process prints, logs and writes files. Throws `error` with
/// exit code 64 for invalid options, or on all processes if their programs, options, devices or
/// dtypes differ. Throws `error` with exit code 76 if the processes cannot connect to each other.
class deployer {
 public:
  explicit deployer(deployer_options options);

  deployer_options const& options() const { return options_; }
  redco::mesh const& mesh() const { return mesh_; }
  run::stage_schedule const& schedule() const { return schedule_; }
  dtype compute() const { return dtype_.compute; }
  at::Device device(int rank = 0) const { return device_.of_rank(rank); }
  options::chosen_dtype const& dtype_choice() const { return dtype_; }
  std::filesystem::path const& workdir() const { return options_.workdir; }
  redco::log::console& console() { return output_->console; }
  log::run_log& log() { return output_->log; }

  /// Returns the summary of the last fit with this deployer, for the text printed at the program's
  /// end; empty before the first fit.
  std::optional<workdir::run_summary>& summary() { return output_->summary; }

  /// Adds a line of the user's to the summary that the program prints at its end, such as "held-out
  /// loss 2.04 nats per byte (bound 2.1)".
  void conclude(std::string const& line) {
    if (summary()) summary()->lines.push_back(line);
  }

  /// Writes `svg`, such as the result of redco::report::curves, to <workdir>/pictures/<name>.svg;
  /// the page of the run, report.html, shows it. Only the first process writes, and only without
  /// --verify; in a loop of ranks, call it on one rank. A full disk is a warning. Throws `error`
  /// with exit code 64 if `name` has other characters than letters, digits, '-', '_' and '.'.
  void keep_picture(std::string const& name, std::string const& svg);

  /// Keeps a contact sheet of `images` under `name` like keep_picture(), and writes the first 8
  /// images to TensorBoard as images of step `step`. Throws the errors of keep_picture(), and
  /// `error` with exit code 70 if the number of pixels of an image does not fit its size.
  void keep_images(std::string const& name, std::span<report::picture_tile const> images, std::int64_t step);

  /// Returns the times of waits for ranks that read or write files (option --disk-deadline).
  workdir::disk_limits disk_limits() const;

  /// Returns the facts of the run that its page shows, to add others.
  report::run_facts& page() { return output_->facts; }

  /// Writes the page of a run, report.html, during the run; does nothing if this would take more
  /// than 5% of the time. The end of a fit and of the program write it in any case.
  void write_page() { output_->write_page(); }
  void write_last_page() { output_->write_last_page(); }

  /// Records that a run has begun: its checkpoint, if any, is accepted. A start that ends earlier
  /// leaves the page of an earlier run.
  void run_began() { output_->began = true; }

  /// Locks the workdir for a run, and opens log.txt in it, which also receives the lines logged so
  /// far. Trainers call it; programs that only predict do not touch the workdir. Does nothing on a
  /// second call and in processes other than the first. Throws `error` with exit code 64 if the
  /// workdir cannot be made or another live run holds its lock.
  void claim_workdir();

  /// Returns the lock of the workdir. Requires an earlier claim_workdir().
  workdir::workdir_lock const& lock() const { return lock_.value(); }

  /// Returns the size in bytes of the gradient buckets that are summed over the replicas while
  /// backward runs: a multiple of 8. Returns 0 if all gradients are summed after backward.
  std::int64_t gradient_bucket() const { return zero_.bucket; }

  /// Returns the ZeRO that the options request.
  shape::zero const& zero() const { return zero_; }

  /// Returns true if messages between the model shards of a replica overlap with matrix products.
  bool overlaps_shards() const { return overlaps_shards_; }

  /// Returns true if this process prints, logs and writes files: true only in the process of rank
  /// 0.
  bool speaks() const { return options::launched().first(); }

  /// Returns the number of the signal that asked this process to end in order; 0 if none was
  /// received.
  int stop_requested() const { return signals_.requested(); }

  /// Acknowledges the stop signal. Call it if the run ends because of the signal. Otherwise the
  /// next deployer of the program would start with a stop request.
  void stop_answered() const { signals_.answered(); }

  /// Returns the record of failed runs in this workdir since the last successful run.
  workdir::failure_history const& failures() const { return failures_; }

  /// Checks that values are equal in all processes of the run; `fill` adds this process's values.
  /// Does nothing if there is one process. All processes call it in the same order, outside of
  /// `run`. Throws `error` with exit code 64 on all processes, with the first value that differs.
  void agree(tensors::function_ref<void(comm::agreement&)> fill);

  /// Calls f(rank_context&) for each rank of this process, each on its own thread. If one rank
  /// throws, all ranks in all processes end with its error, which names the step. With the option
  /// --verify, verifies `f` instead, as verify() does; if `f` made a worker, prints the result and
  /// throws `error` with exit code 0 or 1.
  template <class F>
  void run(F&& f) {
    if (!options_.verify) return run_ranks(f);
    auto const found = compared_runs([&f](rank_context& rank) { f(rank); }, options_.verify_steps);
    if (found) run::end_verification(*this, *found);
  }

  /// Compares a training loop on the mesh with the loop on one rank. Calls f(rank_context&) on one
  /// rank alone, then on each rank of the mesh; `f` makes a `worker`. Compares the first `steps`
  /// steps that change a network; saves nothing. Throws the errors of `f`, and `error` with exit
  /// code 64 if `f` makes no worker or its loop has no step.
  template <class F>
  run::verify_result verify(F&& f, std::int64_t steps = 2) {
    auto found = compared_runs([&f](rank_context& rank) { f(rank); }, steps);
    if (!found) throw error(exit_code::usage, "verify is given a function without a redco::worker: make one in it");
    return std::move(*found);
  }

  /// Calls f(rank_context&) for each rank of this process, each on its own thread. Unlike run(),
  /// does so with --verify too, and does not verify `f`.
  template <class F>
  void run_ranks(F&& f) {
    run_in(*world_, f);
  }

  /// Calls f(rank_context&) on a single rank, whose mesh has size 1.
  template <class F>
  void run_alone(F&& f) {
    if (!alone_) alone_ = world_of_one();
    run_in(*alone_, f);
  }

  /// Returns the verification (--verify of a worker's loop) that is in progress; null if there is
  /// none.
  run::verified_loop* verified() const { return verified_.get(); }

 private:
  friend class run::computing_in;

  template <class F>
  static void run_in(comm::world& world, F&& f) {
    world.run([&f](rank_context& rank) {
      diag::crash_report::rank_thread const thread(rank.rank);
      try {
        f(rank);
      } catch (error const&) {
        throw;
      } catch (std::exception const& e) {
        throw error(exit_code::internal, diag::run_position::here().text() + tensors::words_of(e));
      }
    });
  }
  std::optional<run::verify_result> compared_runs(tensors::function_ref<void(rank_context&)> f, std::int64_t steps);
  std::unique_ptr<comm::world> world_of_one() const;

  deployer_options options_;
  redco::mesh mesh_;
  shape::zero zero_;
  run::stage_schedule schedule_;  ///< order in which pipeline stages compute micro-batches
  tensors::device_choice device_;
  std::unique_ptr<comm::world> world_;
  /// True if messages between model shards overlap with matrix products. Set after `world_`,
  /// because the default depends on which ranks share a host.
  bool overlaps_shards_;
  options::chosen_dtype dtype_;
  std::shared_ptr<run::run_output> output_;
  std::optional<workdir::workdir_lock> lock_;
  workdir::failure_history failures_;
  diag::crash_report crash_report_;
  diag::stop_signals signals_;
  comm::wait_policy waits_;
  std::unique_ptr<comm::world> alone_;
  std::shared_ptr<run::verified_loop> verified_;
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/deployer.inl.hpp>
#endif
