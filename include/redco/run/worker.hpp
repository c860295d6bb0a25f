#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/loop_record.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/step.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/verified_loop.hpp>
#include <redco/run/weight_watch.hpp>
#include <redco/nn/pass.hpp>
#include <redco/update/any_optimizer.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/workdir/add_rates.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/data/shard_of.hpp>
#include <redco/optimizer/check_rates.hpp>
#include <redco/optimizer/sgd.hpp>
#include <redco/random/seed_of.hpp>
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

namespace redco {

namespace run {

/// A function that computes the loss of a micro-batch, a `mean` or `terms`, in its pass.
template <class F>
concept loss_of_pass = std::invocable<F const&, pass const&> &&
    (std::is_same_v<std::invoke_result_t<F const&, pass const&>, mean> ||
     std::is_same_v<std::invoke_result_t<F const&, pass const&>, terms>);

}  // namespace run

/// How long a worker's loop is and what it saves.
struct worker_options {
  std::int64_t steps = 0;       ///< of the loop: schedules count them and end with them, however many updates each has
  std::int64_t save_every = 0;  ///< steps between checkpoints; 0: at the end and after a signal only
  int keep_last = 2;            ///< checkpoints that stay besides the best ones; 0: all
  std::string config = {};      ///< options as JSON text, for config.json; a resumed run compares them
  std::int64_t log_every = 1;   ///< steps between rows of metrics.jsonl, which have the means since the last row
  std::vector<std::string> save_argmin = {};  ///< metrics whose best checkpoint stays as min_<metric>
  std::vector<std::string> save_argmax = {};  ///< metrics whose best checkpoint stays as max_<metric>
};

/// One rank's machine for a training loop of one's own: any number of named networks with their optimizers, the step, and what
/// else a checkpoint shall hold.
///
///   deployer.run([&](redco::rank_context& rank) {
///     redco::worker worker(deployer, rank, {.steps = 10'000});
///     auto& actor = worker.add("actor", policy{}, redco::adam{.lr = 1e-4});
///     auto& target = worker.add_copy("target", actor);
///     worker.keep("replay", buffer);
///     for (worker.resume(); !worker.finished(); worker.end_step()) {
///       redco::pass const in = worker.pass(first, count);
///       worker.update(actor, loss_of(actor.in(in)));
///       worker.log("return", played);
///       if (worker.step() % 100 == 99) worker.evaluated({{"score", score_of(actor)}});
///     }
///   });
///
/// All ranks do the same in the same order; rank 0 alone writes. Networks of one seed draw
/// different numbers: their names key them. All updates of a step have its learning rate: that of
/// step s of `steps`, for each network. Bias corrections of Adam count a network's own updates.
/// Errors on construction: those of the workdir, exit code 64.
class worker {
 public:
  worker(deployer& where, rank_context& rank, worker_options const& options);
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;
  ~worker();

  /// A network under a name of its own: a part of its parameters' names in checkpoints, "actor.up.weight". Errors: exit code 64
  /// for a name that is taken, for what the mesh cannot hold, and for a learning rate that is none.
  template <model M, update::optimizer Optimizer>
  trained_network<M>& add(std::string const& name, M const& m, Optimizer const& optimizer,
                          std::vector<std::string> const& frozen = {}) {
    check_rates(optimizer);
    auto settings = workdir::settings_of(m, optimizer, where_.compute());
    workdir::add_rates(settings, optimizer, options_.steps);
    compare(name, settings, frozen);
    auto made = std::make_unique<trained_network<M>>(m, run::planned(m, rank_.mesh, where_), optimizer,
                                                     where_.compute(), random::seed_of(where_.options().seed, name),
                                                     rank_.rank, frozen, where_.device(rank_.rank));
    trained_network<M>& result = *made;
    take(name, std::move(made), settings);
    return result;
  }

  /// Moves a network this share of the way to another of its kind: 1 gives it its values. Errors:
  /// exit code 70 for a leader of another kind.
  static void follow(run::network_state const& leader, run::network_state& follower, double share = 1);

  /// A network that no optimizer changes, with the values of another: a target copy.
  template <model M>
  trained_network<M>& add_copy(std::string const& name, trained_network<M> const& of) {
    trained_network<M>& result = add(name, of.net->model(), sgd{}, {"*"});
    follow(of, result);
    return result;
  }

  /// Has a checkpoint hold `state` too: any type that cereal knows or that has `serialize(archive)`, equal on all ranks, which
  /// outlives the worker.
  template <class State>
  void keep(std::string const& name, State& state) {
    state_.keep(name, run::run_state::kept(state));
  }

  /// Continues from the newest checkpoint if there is one and --resume asks for it. Call it once,
  /// after add and keep. Warns of settings that differ from the checkpoint's. Errors: exit code 65
  /// with what differs for a checkpoint of other networks.
  void resume();

  std::int64_t step() const { return state_.step(); }
  /// With --verify also true once enough steps have changed a network.
  bool finished() const { return step() >= options_.steps || (verifier_ && verifier_->done(step())); }

  /// Of the run: what was resumed has that of its checkpoint.
  std::uint64_t seed() const { return state_.seed(); }
  rank_context& rank() const { return rank_; }
  deployer& where() const { return where_; }

  /// What a network is called in: `examples` of this rank, from the `first` of the step on.
  redco::pass pass(std::int64_t first, std::int64_t examples, bool training = true) const {
    return state_.pass(first, examples, training);
  }

  /// Returns this rank's part of a step's `examples`, cut into micro-batches of at most `most`
  /// examples; 0: uncut. Empty where there are fewer examples than replicas.
  std::vector<interval> micro_batches(std::int64_t examples, std::int64_t most = 0) const;

  /// One update of one network by this rank's part of a loss, with the learning rate of this step.
  /// A loss of several terms divides each by its own count over all ranks. Errors: those of
  /// run::step_executor::run, and exit code 70 for a network that is not this worker's.
  step_result update(run::network_state& network, mean const& loss) {
    return update(network, {{}}, [&](redco::pass const&) { return loss; });
  }
  step_result update(run::network_state& network, terms const& loss) {
    return update(network, {{}}, [&](redco::pass const&) { return loss; });
  }

  /// The same by micro-batches, which lie at these places of the step's examples: `loss(in)`
  /// computes a `mean`, or `terms` of one micro-batch, from the examples of the pass. One
  /// micro-batch's saved tensors are held at a time. Ranks may have different numbers of
  /// micro-batches, also none.
  template <run::loss_of_pass Loss>
  step_result update(run::network_state& network, std::vector<interval> const& micro_batches, Loss const& loss) {
    constexpr bool several = std::is_same_v<std::invoke_result_t<Loss const&, redco::pass const&>, terms>;
    return update_by(network, micro_batches, several, [&](redco::pass const& in) { return as_terms(loss(in), 1); });
  }

  /// Returns the mean of losses over the micro-batches of all ranks, "loss", and its terms,
  /// computed without dropout and gradients. All ranks call it; terms are on ranks that have a
  /// micro-batch.
  template <run::loss_of_pass Loss>
  metric_map mean_loss(std::vector<interval> const& micro_batches, Loss const& loss) const {
    return mean_loss_of(micro_batches, [&](redco::pass const& in) { return as_terms(loss(in), 1); });
  }

  /// Adds a value of this step to the rows of metrics.jsonl, TensorBoard and the progress bar: rank
  /// 0's values, averaged over the steps of a row.
  void log(std::string const& name, double value) { record_.value(name, value); }

  /// Takes in an evaluation of the networks as this step leaves them: call it after the step's
  /// updates. Rank 0's metrics are those of all ranks, and are returned. They are written, and
  /// where one is better than before, end_step saves a checkpoint under its name. All ranks call
  /// it. Errors: exit code 64 without a metric that `save_argmin` or `save_argmax` names.
  metric_map evaluated(metric_map metrics);

  /// Counts the step, saves where it is due, and at the end of the run. Errors: exit code 75 after
  /// a signal, when all is saved.
  void end_step();

  /// A checkpoint of this step; with --verify nothing.
  void save();

 private:
  void compare(std::string const& name, std::map<std::string, std::string> const& settings,
               std::vector<std::string> const& frozen) const;
  void take(std::string const& name, std::unique_ptr<run::network_state> made,
            std::map<std::string, std::string> const& settings);
  std::string const& name_of(run::network_state const& network) const;
  using loss_function = function_ref<terms(redco::pass const&)>;
  step_result update_by(run::network_state& network, std::vector<interval> const& micro_batches, bool several,
                        loss_function loss);
  schedule::step_facts facts_of(run::network_state const& network, std::int64_t micro_batches, bool several) const;
  metric_map mean_loss_of(std::vector<interval> const& micro_batches, loss_function loss) const;
  void begin();
  void save_under(std::vector<std::string> const& names);

  deployer& where_;
  rank_context& rank_;
  worker_options options_;
  std::map<std::string, std::unique_ptr<run::network_state>> networks_;
  std::map<std::string, std::string> settings_;  ///< what networks, optimizers and the program were told
  run::run_state state_;
  run::loop_record record_;
  run::weight_watch weights_;
  comm::replica_round round_;                     ///< of the micro-batch that update computes
  bool begun_ = false;                            ///< rows are written
  std::unique_ptr<run::loop_verifier> verifier_;  ///< null: the loop trains
  std::filesystem::path checkpoint_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/worker.inl.hpp>
#endif
