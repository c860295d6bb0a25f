#pragma once

#include <redco/ckpt/workdir_lock.hpp>
#include <redco/comm/ranks.hpp>
#include <redco/diag/error.hpp>
#include <redco/run/console.hpp>
#include <redco/run/deployer_options.hpp>
#include <redco/run/fastest_dtype.hpp>
#include <redco/run/run_log.hpp>
#include <redco/run/signals.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

namespace redco {

/// The place where a program runs: its mesh of ranks, its locked workdir, its log and its signals. One per process at a
/// time; trainer and predictor borrow it.
///
/// Errors: exit code 64 for ranks that form no mesh, a workdir that cannot be made or that a live run holds.
class deployer {
 public:
  explicit deployer(deployer_options options)
      : options_(std::move(options)),
        mesh_(mesh_of(options_)),
        compute_(options_.dtype.value_or(fastest_dtype())),
        console_(standard_console(options_.quiet)),
        lock_(options_.workdir),
        log_(console_, options_.workdir / "log.txt") {
    if (compute_ != dtype::f32 && compute_ != dtype::f64 && compute_ != dtype::bf16)
      throw error(exit_code::usage,
                  "--dtype " + std::string(name_of(compute_)) + " cannot be trained in; use f32, bf16 or f64");
  }

  deployer_options const& options() const { return options_; }
  redco::mesh const& mesh() const { return mesh_; }
  dtype compute() const { return compute_; }
  std::filesystem::path const& workdir() const { return options_.workdir; }
  redco::console& console() { return console_; }
  run_log& log() { return log_; }
  workdir_lock const& lock() const { return lock_; }

  /// The signal that asked for an orderly end, 0 if none did.
  int stop_requested() const { return signals_.requested(); }

  /// Calls f(rank_context&) on one thread per rank; a rank's failure ends all with its cause.
  template <class F>
  void run(F&& f) {
    rank_options ranks;
    ranks.threads = options_.threads;
    ranks.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(options_.deadline * 1000));
    run_ranks(mesh_, ranks, std::forward<F>(f));
  }

 private:
  deployer_options options_;
  redco::mesh mesh_;
  dtype compute_;
  redco::console console_;
  workdir_lock lock_;
  run_log log_;
  stop_signals signals_;
};

}  // namespace redco
