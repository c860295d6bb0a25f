#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/loop_record.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/patient_saves.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/step.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/verified_loop.hpp>
#include <redco/nn/joint_calls.hpp>
#include <redco/nn/pass.hpp>
#include <redco/update/any_optimizer.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/data/batches.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/random/stream.hpp>
#include <redco/schedule/step_of.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::run {

/// Concept of a function that takes the pass of a micro-batch (settings of a forward call) and
/// returns its loss: a `mean` or `terms`.
template <class F>
concept loss_of_pass = std::invocable<F const&, pass const&> &&
    (std::is_same_v<std::invoke_result_t<F const&, pass const&>, mean> ||
     std::is_same_v<std::invoke_result_t<F const&, pass const&>, terms>);

}  // namespace redco::run

namespace redco {

/// Options of a worker: length of its loop, and settings of its checkpoints and metrics.
struct worker_options {
  /// Number of steps of the loop. Learning-rate schedules count these steps, not single updates of
  /// networks, and reach their end after the last step.
  std::int64_t steps = 0;
  /// Number of steps between checkpoints; 0 to save only at the end and after a signal.
  std::int64_t save_every = 0;
  /// Number of newest checkpoints to keep, in addition to the best ones; 0 to keep all.
  int keep_last = 2;
  /// JSON text of the program's options, written to config.json; a resumed run compares them with
  /// the checkpoint's.
  std::string config = {};
  /// Number of steps per row of metrics.jsonl; a row has the mean of each value over these steps.
  std::int64_t log_every = 1;
  /// Metrics to minimise; the checkpoint of each metric's best step is kept as min_<metric>.
  std::vector<std::string> save_argmin = {};
  /// Metrics to maximise; the checkpoint of each metric's best step is kept as max_<metric>.
  std::vector<std::string> save_argmax = {};
};

/// One rank's side of a training loop that the user writes, over named networks with optimizers.
/// All ranks make the same calls in the same order; rank 0 alone writes files.
///
///   redco::worker worker(deployer, rank, {.steps = 10'000});
///   auto& actor = worker.add("actor", policy{}, redco::adam{.lr = 1e-4});
///   for (worker.resume(); !worker.finished(); worker.end_step())
///     worker.update(actor, worker.micro_batches(32),
///                   [&](redco::pass const& in) { return loss_of(actor.in(in)); });
class worker {
 public:
  /// Begins a run; rank 0 locks the workdir. Throws `error` with exit code 64 for invalid options
  /// or a workdir that cannot be used.
  worker(deployer& where, rank_context& rank, worker_options const& options);
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker();

  /// Adds a network of model `m`, which `optimizer` updates, under a unique name. The name prefixes
  /// its parameters' names in checkpoints ("actor.up.weight"). `frozen`: name patterns of the
  /// parameters that stay unchanged. The network's random numbers depend on the name. Throws
  /// `error` with exit code 64 if another network has this name, the mesh cannot hold the model, or
  /// the learning rate is invalid.
  template <model M, update::optimizer Optimizer>
  run::trained_network<M>& add(std::string const& name, M const& m, Optimizer const& optimizer,
                               std::vector<std::string> const& frozen = {}) {
    optimizer::check_rates(optimizer);
    auto settings = workdir::settings_of(m, optimizer, where_.compute());
    workdir::add_rates(settings, optimizer, options_.steps);
    compare(name, settings, frozen);
    auto made = std::make_unique<run::trained_network<M>>(
        m, run::planned(m, rank_.mesh, where_), optimizer, where_.compute(),
        random::seed_of(where_.options().seed, name), rank_.rank, frozen, where_.device(rank_.rank), where_.zero());
    run::trained_network<M>& result = *made;
    take(name, std::move(made), settings);
    return result;
  }

  /// Moves the parameters of `follower` towards those of `leader`: p += share * (leader's p - p),
  /// with a share from 0 to 1; 1 copies. Throws `error` with exit code 70 if the networks have
  /// different parameters. Throws it with 64 if a rank has only a share of their f32 parameters
  /// (--zero 3, or --zero in bf16).
  static void follow(run::network_state const& leader, run::network_state& follower, double share = 1);

  /// Adds a copy of the network `of` under another name. No optimizer changes it; follow() can. Use
  /// it as a target network. Throws the errors of add().
  template <model M>
  run::trained_network<M>& add_copy(std::string const& name, run::trained_network<M> const& of) {
    run::trained_network<M>& result = add(name, of.net->model(), sgd{}, {"*"});
    follow(of, result);
    return result;
  }

  /// Adds `state` to the checkpoints under `name`: any type that cereal can serialize or that has
  /// `serialize(archive)`. The object must be equal on all ranks and outlive the worker.
  template <class State>
  void keep(std::string const& name, State& state) {
    state_.keep(name, run::run_state::kept(state));
  }

  /// Continues from the newest checkpoint if there is one and --resume asks for it. Call it once,
  /// after add() and keep(). Warns about settings that differ from the checkpoint's. Throws `error`
  /// with exit code 65 and the differences if the checkpoint has other networks or objects.
  void resume();

  std::int64_t step() const { return state_.step(); }
  /// Returns true after the last step of the loop. With --verify, returns true already after
  /// --verify-steps steps that updated a network.
  bool finished() const { return step() >= options_.steps || (verifier_ && verifier_->done(step())); }

  /// Returns the seed of the run; a resumed run has the seed of its checkpoint.
  std::uint64_t seed() const { return state_.seed(); }
  rank_context& rank() const { return rank_; }
  deployer& where() const { return where_; }

  /// Returns the pass (settings of a forward call) for `examples` examples of this rank. `first`:
  /// index of this rank's first example in the step's global batch; `training`: false to evaluate,
  /// without dropout.
  redco::pass pass(std::int64_t first, std::int64_t examples, bool training = true) const {
    return state_.pass(first, examples, training);
  }

  /// Returns this rank's share of a step's `examples`, as index ranges of at most `most` examples
  /// each; 0 for one range. Empty if this rank has no example, which happens with fewer examples
  /// than replicas.
  std::vector<data::interval> micro_batches(std::int64_t examples, std::int64_t most = 0) const;

  /// Updates one network with this rank's share of a loss and the learning rate of this step. All
  /// ranks call it. If the loss has several terms, each one is divided by its own count over all
  /// ranks. Throws the errors of run::step_executor::run, and `error` with exit code 70 if the
  /// network is not one of this worker's.
  run::step_result update(run::network_state& network, mean const& loss) {
    return update(network, {{}}, [&](redco::pass const&) { return loss; });
  }
  run::step_result update(run::network_state& network, terms const& loss) {
    return update(network, {{}}, [&](redco::pass const&) { return loss; });
  }

  /// Updates one network, computing one micro-batch after the other. `micro_batches`: index ranges
  /// of the step's examples. `loss(pass)` returns a `mean` or `terms` for the examples of the pass,
  /// those of one micro-batch. The saved tensors of only one micro-batch are in memory. Ranks may
  /// have different numbers of micro-batches, or none. Throws the errors of `loss` and of the
  /// overload without micro-batches.
  template <run::loss_of_pass Loss>
  run::step_result update(run::network_state& network, std::vector<data::interval> const& micro_batches,
                          Loss const& loss) {
    constexpr bool several = std::is_same_v<std::invoke_result_t<Loss const&, redco::pass const&>, terms>;
    return update_by(network, micro_batches, several,
                     [&](redco::pass const& in) { return tensors::as_terms(loss(in), 1); });
  }

  /// Returns the mean loss over the micro-batches of all ranks under the name "loss", computed
  /// without dropout and gradients. On ranks with a micro-batch, the result also has the mean of
  /// each loss term. All ranks call it. Throws the errors of `loss`.
  ///
  /// A signal ends it after the current micro-batch. If no network was updated in this step,
  /// mean_loss() then saves the step and throws `error` with exit code 75. Otherwise it returns
  /// NaN, evaluated() records nothing, and end_step() ends the run. A signal does not end it after
  /// the updates of the last step.
  template <run::loss_of_pass Loss>
  options::metric_map mean_loss(std::vector<data::interval> const& micro_batches, Loss const& loss) {
    return mean_loss_of(micro_batches, [&](redco::pass const& in) { return tensors::as_terms(loss(in), 1); });
  }

  /// Adds a value of this step, under `name`, to metrics.jsonl, TensorBoard and the progress bar. A
  /// row has the mean of the values that all replicas have logged in its steps, so it does not
  /// depend on the mesh. Replicas may log different numbers of values, or none.
  void log(std::string const& name, double value) { record_.value(name, value); }

  /// Records an evaluation of the networks. Call it after the step's updates. All ranks call it,
  /// and it returns rank 0's metrics. If a metric of `save_argmin` or `save_argmax` is the best so
  /// far, end_step() saves a checkpoint named after it. Throws `error` with exit code 64 if one of
  /// these metrics is missing.
  options::metric_map evaluated(options::metric_map metrics);

  /// Ends the step: increments step(), and saves a checkpoint if one is due, the loop ends, or a
  /// signal came. Throws `error` with exit code 75 after a signal, unless the loop ends.
  void end_step();

  /// Saves a checkpoint of this step, unless it is saved already. Does nothing with --verify.
  void save() {
    if (verifier_ || state_.is_saved()) return;
    begin();
    save_under({});
  }

 private:
  void compare(std::string const& name, std::map<std::string, std::string> const& settings,
               std::vector<std::string> const& frozen) const;
  void take(std::string const& name, std::unique_ptr<run::network_state> made,
            std::map<std::string, std::string> const& settings);
  std::string const& name_of(run::network_state const& network) const;
  using loss_function = tensors::function_ref<terms(redco::pass const&)>;
  run::step_result update_by(run::network_state& network, std::vector<data::interval> const& micro_batches,
                             bool several, loss_function loss);
  schedule::step_facts facts_of(run::network_state const& network, std::int64_t micro_batches, bool several) const;
  options::metric_map mean_loss_of(std::vector<data::interval> const& micro_batches, loss_function loss);
  int compute_losses(std::vector<data::interval> const& micro_batches, loss_function loss, run::loss_totals& totals);
  void begin();
  void save_under(std::vector<std::string> const& names, bool last = false);

  deployer& where_;
  rank_context& rank_;
  worker_options options_;
  std::map<std::string, std::unique_ptr<run::network_state>> networks_;
  /// Settings of networks, optimizers and the program by name, for checkpoints.
  std::map<std::string, std::string> settings_;
  run::run_state state_;
  run::loop_record record_;
  run::weight_watch weights_;
  run::patient_saves saves_;
  /// Best values of the metrics in the last checkpoint.
  workdir::best_metrics::table saved_best_;
  comm::replica_round round_;  ///< unused; each pass has its own round of micro-batches
  /// True after the loop has begun: after the first update, evaluation or end of a step.
  bool begun_ = false;
  bool updated_ = false;             ///< true if a network was updated since the last end_step()
  bool evaluation_stopped_ = false;  ///< true if a signal has ended mean_loss() in this step
  /// Recorder or comparer of updates; null without --verify.
  std::unique_ptr<run::loop_verifier> verifier_;
  std::filesystem::path checkpoint_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/worker.inl.hpp>
#endif
