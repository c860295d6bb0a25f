#pragma once

#include <redco/run/run_output.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/wait_policy.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/words_of.hpp>
#include <redco/workdir/failure_history.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/workdir/workdir_lock.hpp>
#include <redco/options/chosen_dtype.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/options/launch.hpp>
#include <redco/log/console.hpp>
#include <redco/log/run_log.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/last_words.hpp>
#include <redco/diag/run_place.hpp>
#include <redco/diag/signals.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace redco {

class deployer;

}  // namespace redco

namespace redco::run {

class verified_loop;

/// Prints a result on standard output and throws how the program ends: an `error` with exit code 0
/// where nothing differs, else 1.
[[noreturn]] void end_verification(deployer& where, verify_result const& result);

}  // namespace redco::run

namespace redco {

/// The place where a program runs: its mesh of ranks, its workdir, its log and its signals. One per process at a time;
/// trainer and predictor borrow it. Where a launcher started several processes it is one place for all of them: the first shows,
/// logs and writes.
///
/// Errors: exit code 64 for options that cannot be meant, and on all processes if their programs,
/// options, devices or dtypes differ; 76 where the processes do not find each other.
class deployer {
 public:
  explicit deployer(deployer_options options);

  deployer_options const& options() const { return options_; }
  redco::mesh const& mesh() const { return mesh_; }
  dtype compute() const { return dtype_.compute; }
  at::Device device(int rank = 0) const { return device_.of_rank(rank); }
  chosen_dtype const& dtype_choice() const { return dtype_; }
  std::filesystem::path const& workdir() const { return options_.workdir; }
  redco::log::console& console() { return output_->console; }
  log::run_log& log() { return output_->log; }

  /// How the last fit here ended, for the end summary; empty before one.
  std::optional<workdir::run_summary>& summary() { return output_->summary; }

  /// Adds a line of one's own to the end summary: "held-out loss 2.04 nats per byte (bound 2.1)".
  void conclude(std::string const& line) {
    if (summary()) summary()->lines.push_back(line);
  }

  /// Takes the workdir for a run: its lock, and log.txt in it, which gets what was logged before too. A trainer does it;
  /// who only predicts leaves the workdir alone. Once it is taken, and where this process does not speak, nothing happens.
  /// Errors: exit code 64 for a workdir that cannot be made or that a live run holds.
  void claim_workdir();

  /// Requires a claimed workdir.
  workdir::workdir_lock const& lock() const { return lock_.value(); }

  /// The bytes of gradients that ranks sum over the replicas at once while backward runs, a multiple of 8; 0: behind it.
  std::int64_t gradient_bucket() const { return gradient_bucket_; }

  /// What shards exchange passes beside their products.
  bool overlaps_shards() const { return overlaps_shards_; }

  /// This process shows, logs and writes: it has rank 0.
  bool speaks() const { return options::launched().first(); }

  /// The signal that asked for an orderly end, 0 if none did.
  int stop_requested() const { return signals_.requested(); }

  /// To be called by who ends a run because of it: a program's next deployer starts without the request.
  void stop_answered() const { signals_.answered(); }

  /// Failures of earlier runs here.
  workdir::failure_history const& failures() const { return failures_; }

  /// Compares the values that `fill` adds between the processes of the run; does nothing if there
  /// is one process. All processes call it in the same order, outside `run`. Errors: exit code 64
  /// on all of them for the first value that differs.
  void agree(function_ref<void(comm::agreement&)> fill);

  /// Calls f(rank_context&) for each rank of this process, on a thread of its own; a rank's failure ends all, in every process,
  /// with its cause, which names the step. With `deployer_options::verify` it verifies f instead
  /// and, if f made a worker, shows the table and throws how the program ends: an `error` with exit
  /// code 0 or 1.
  template <class F>
  void run(F&& f) {
    if (!options_.verify) return run_ranks(f);
    auto const found = compared_runs([&f](rank_context& rank) { f(rank); }, options_.verify_steps);
    if (found) run::end_verification(*this, *found);
  }

  /// Calls f(rank_context&) on one rank alone, then for each rank of the mesh, and compares the
  /// first `steps` steps of its worker's loop that change a network. Nothing is saved. Errors:
  /// those of f; exit code 64 if f makes no worker or its loop has no step.
  template <class F>
  verify_result verify(F&& f, std::int64_t steps = 2) {
    auto found = compared_runs([&f](rank_context& rank) { f(rank); }, steps);
    if (!found) throw error(exit_code::usage, "verify is given a function without a redco::worker: make one in it");
    return std::move(*found);
  }

  /// `run` without a verification.
  template <class F>
  void run_ranks(F&& f) {
    run_in(*world_, f);
  }

  /// Calls f(rank_context&) on one rank that is alone in a mesh of its own.
  template <class F>
  void run_alone(F&& f) {
    if (!alone_) alone_ = world_of_one();
    run_in(*alone_, f);
  }

  /// The verification whose function runs; null where none does.
  run::verified_loop* verified() const { return verified_.get(); }

 private:
  template <class F>
  static void run_in(comm::world& world, F&& f) {
    world.run([&f](rank_context& rank) {
      diag::last_words::rank_thread const thread(rank.rank);
      try {
        f(rank);
      } catch (error const&) {
        throw;
      } catch (std::exception const& e) {
        throw error(exit_code::internal, diag::run_place::here().text() + words_of(e));
      }
    });
  }
  std::optional<verify_result> compared_runs(function_ref<void(rank_context&)> f, std::int64_t steps);
  std::unique_ptr<comm::world> world_of_one() const;

  deployer_options options_;
  redco::mesh mesh_;
  std::int64_t gradient_bucket_;
  device_choice device_;
  std::unique_ptr<comm::world> world_;
  bool overlaps_shards_;  ///< known when the processes have met
  chosen_dtype dtype_;
  std::shared_ptr<run::run_output> output_;
  std::optional<workdir::workdir_lock> lock_;
  workdir::failure_history failures_;
  diag::last_words last_words_;
  diag::stop_signals signals_;
  comm::wait_policy waits_;
  std::unique_ptr<comm::world> alone_;
  std::shared_ptr<run::verified_loop> verified_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/deployer.inl.hpp>
#endif
