#pragma once

#include <redco/run/worker.hpp>

#include <redco/run/fit_work.hpp>
#include <redco/run/gathered_values.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/process_choices.hpp>
#include <redco/run/run_state.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/run_config.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/options/value_text.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>

namespace redco {

REDCO_INLINE worker::worker(deployer& where, rank_context& rank, worker_options const& options)
    : where_(where),
      rank_(rank),
      options_(options),
      state_(where, rank, workdir::new_run_id()),
      record_(where, rank, options.steps, options.log_every, {options.save_argmin, options.save_argmax}),
      weights_(where.log()),
      saves_(where, rank) {
  if (options.steps < 1)
    throw error(exit_code::usage, "a worker of " + std::to_string(options.steps) + " steps: give 1 or more");
  if (options.save_every < 0 || options.keep_last < 0)
    throw error(exit_code::usage, "a worker with save_every " + std::to_string(options.save_every) + " and keep_last " +
                                      std::to_string(options.keep_last) + ": give 0 or more");
  if (options.log_every < 1)
    throw error(exit_code::usage,
                "a worker with log_every " + std::to_string(options.log_every) + ": give 1 or more steps");
  if (rank.mesh.pp > 1)
    throw error(exit_code::usage,
                "a worker with pipeline stages: its steps are the program's own, which stages do not support; give "
                "--n-pipeline-stages 1");
  if (where.options().cuda_graph) run::step_graphs::refuse("a worker's steps are the program's own");
  if (where.options().check_saved)
    throw error(exit_code::usage,
                "--check-saved compares the first step of a fit, and a worker's steps are the program's own; leave it "
                "out");
  if (where.verified() != nullptr) verifier_ = std::make_unique<run::loop_verifier>(*where.verified(), rank);
  if (verifier_) state_.watch_layers(verifier_->layers());
  if (rank_.rank == 0 && !verifier_) {
    where_.claim_workdir();
    if (std::string const again = where_.failures().begin_start(); !again.empty()) where_.log().warning(again);
    where_.summary().emplace();
    where_.log().quiet_line("mesh " + options::to_text(rank.mesh));
    run::log_choices(where_);
  }
  settings_["steps"] = std::to_string(options.steps);
  settings_.merge(workdir::config_settings(options.config));
}

REDCO_INLINE worker::~worker() {
  if (rank_.rank != 0 || verifier_) return;
  workdir::run_summary& s = where_.summary().emplace();
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  s.unit = "steps";
  // An exception ends the run; whoever catches it reports the cause.
  if (std::uncaught_exceptions() > 0) {
    s.step = step();
    s.steps = options_.steps;
    s.checkpoint = checkpoint_.string();
    return;
  }
  workdir::fit_record record;
  record.started(step(), 0);
  record.steps = options_.steps;
  record.checkpoint = checkpoint_;
  record.unit = s.unit;
  record_.describe(record);
  where_.failures().forget_starts();
  record.per_second = s.seconds > 0 ? static_cast<double>(step() - state_.first_step()) / s.seconds : 0;
  workdir::summarise(s, record, where_.workdir(), where_.failures());
  where_.write_last_page();
}

/// Compares the settings of a network between all processes, before the network is made. Throws
/// `error` with exit code 64 on all processes if they differ.
REDCO_INLINE void worker::compare(std::string const& name, std::map<std::string, std::string> const& settings,
                                  std::vector<std::string> const& frozen) const {
  if (!rank_.several_processes) return;
  comm::agreement all("settings of a worker", "start all processes by the same command");
  all.add("network", name);
  all.add("steps", std::to_string(options_.steps));
  all.add("save_every", std::to_string(options_.save_every));
  all.add("keep_last", std::to_string(options_.keep_last));
  all.add(settings, name + ".");
  for (std::size_t i = 0; i < frozen.size(); ++i) all.add(name + ".frozen[" + std::to_string(i) + "]", frozen[i]);
  all.check(rank_.world);
}

REDCO_INLINE void worker::take(std::string const& name, std::unique_ptr<run::network_state> made,
                               std::map<std::string, std::string> const& settings) {
  if (!safetensors::tensor_name(name) || networks_.contains(name))
    throw error(exit_code::usage, "a network " + safetensors::shown(name) + ": give each a name of its own");
  made->name = name + ".";
  made->store.publish();
  for (auto const& [key, value] : settings) settings_[made->name + key] = value;
  run::network_state& taken = *networks_.emplace(name, std::move(made)).first->second;
  state_.add(taken);
  if (verifier_) verifier_->add(name, taken);
}

REDCO_INLINE void worker::follow(run::network_state const& leader, run::network_state& follower, double share) {
  at::NoGradGuard const no_grad;
  if (leader.store.has_cut_masters() || follower.store.has_cut_masters())
    throw error(
        exit_code::usage,
        "worker.follow and --zero 3, or --zero in bf16: a rank has only a share of the parameters that follow() "
        "reads; give --dtype f32 and --zero 2, or --zero 0");
  for (nn::stored_parameter const& p : follower.store.parameters()) {
    nn::stored_parameter const* const from = leader.store.find(p.name);
    if (from == nullptr || from->master.sizes() != p.master.sizes())
      throw error(exit_code::internal, "a network cannot follow one of another kind, whose " + p.name + " is " +
                                           (from == nullptr ? "missing" : "of another shape") +
                                           ": give a leader of the same model");
    at::Tensor const& goal = from->master;
    if (share == 1) at::Tensor(p.master).copy_(goal);
    else at::Tensor(p.master).lerp_(goal, share);
  }
  follower.store.publish();
}

REDCO_INLINE void worker::resume() {
  if (verifier_) return verifier_->begin();
  if (auto const found = state_.find()) {
    auto const best = state_.load(*found);
    record_.best() = workdir::best_metrics(options_.save_argmin, options_.save_argmax, best, found->facts.patience);
    saved_best_ = best;
    state_.compare_settings(found->facts, settings_);
    state_.compare_digests(*found, {});
    checkpoint_ = found->directory;
  }
  if (rank_.rank == 0 && !options_.config.empty())
    workdir::write_results(where_.workdir() / "config.json",
                           workdir::run_config(options_.config, where_.dtype_choice()));
}

REDCO_INLINE std::string const& worker::name_of(run::network_state const& network) const {
  std::string names;
  for (auto const& [name, own] : networks_) {
    if (own.get() == &network) return name;
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  }
  throw error(exit_code::internal, "worker.update is given a network that is not this worker's, which has " +
                                       (names.empty() ? "none" : names) + ": make it with worker.add");
}

}  // namespace redco

namespace redco::run::detail {

/// The micro-batches of one update by a worker. Keeps the pass (settings of a forward call) of a
/// micro-batch until the next micro-batch, because backward may need it.
class own_work final : public step_work {
 public:
  own_work(run_state const& state, std::vector<data::interval> const& micro_batches,
           tensors::function_ref<terms(pass const&)> loss)
      : state_(state), micro_batches_(micro_batches), loss_(loss) {}

  terms loss(std::int32_t, comm::replica_round const& round, nn::stage_link*) override {
    data::interval const& at = micro_batches_[next_++];
    in_ = state_.pass(at.begin, at.size()).with_round(round);
    return loss_(in_);
  }

  pass pass_without_examples() const override { return state_.pass(0, 0); }

  void compute(step_executor& step, comm::replica_round const& round) override { step.add(loss(0, round, nullptr)); }

 private:
  run_state const& state_;
  std::vector<data::interval> const& micro_batches_;
  tensors::function_ref<terms(pass const&)> loss_;
  std::size_t next_ = 0;
  pass in_;
};

/// The values of a worker's networks while a loss is computed, if the replicas keep shares of them.
/// One network gathers its blocks call by call. Of several networks, all values are in memory,
/// because replicas need not call them in one order.
class values_of_networks {
 public:
  /// `updated`: network whose values its step gathers; null for none.
  values_of_networks(std::map<std::string, std::unique_ptr<network_state>> const& networks, rank_context& rank,
                     network_state const* updated = nullptr) {
    for (auto const& [name, network] : networks) {
      if (network.get() == updated || !network->store.shares_values()) continue;
      if (networks.size() == 1) calls_.emplace(network->store, rank);
      else whole_.emplace_back(network->store, rank);
    }
  }

  void join() {
    if (calls_) calls_->join();
  }

 private:
  std::optional<gathered_calls> calls_;
  std::list<whole_values> whole_;
};

}  // namespace redco::run::detail

namespace redco {

REDCO_INLINE std::vector<data::interval> worker::micro_batches(std::int64_t examples, std::int64_t most) const {
  comm::group const& replicas = rank_.group(shape::batch_axes);
  data::interval const own = data::shard_of({0, examples}, replicas.size(), replicas.rank());
  std::vector<data::interval> all;
  for (std::int64_t begin = own.begin; begin < own.end; begin = all.back().end)
    all.push_back({begin, most > 0 ? std::min(begin + most, own.end) : own.end});
  return all;
}

REDCO_INLINE run::step_result worker::update_by(run::network_state& network,
                                                std::vector<data::interval> const& micro_batches, bool several,
                                                loss_function loss) {
  std::string const& name = name_of(network);
  begin();
  run::detail::values_of_networks const values(networks_, rank_, &network);
  run::step_executor one(network, rank_, facts_of(network, std::ssize(micro_batches), several),
                         where_.gradient_bucket(), verifier_ ? &verifier_->watch() : nullptr);
  run::detail::own_work work(state_, micro_batches, loss);
  run::step_result const result = one.run(work, {step(), options_.steps});
  updated_ = true;
  if (verifier_) verifier_->end_update(name, step(), result);
  record_.updated(name, result);
  if (rank_.rank == 0) weights_.after_update(result, step() + 1, name);
  return result;
}

/// Returns the numbers from which the operations of an update follow, such as its number of
/// micro-batches. The ranks exchange these numbers if the replicas communicate once per
/// micro-batch: in batch norm, or to sum gradients.
REDCO_INLINE schedule::step_facts worker::facts_of(run::network_state const& network, std::int64_t micro_batches,
                                                   bool several) const {
  schedule::step_facts facts{
      .micro_batches = micro_batches, .rounds = micro_batches, .full_rounds = micro_batches, .several_terms = several};
  if (!network.network().meets_replicas() && !network.network().exchanges_rows() && !network.store.has_cut_gradients())
    return facts;
  at::Tensor const most = at::tensor({micro_batches, -micro_batches}, at::kLong);
  rank_.world.all_reduce(most, comm::reduce_op::max);
  facts.rounds = most[0].item<std::int64_t>();
  facts.full_rounds = -most[1].item<std::int64_t>();
  return facts;
}

/// Adds the losses of this rank's micro-batches to `totals`, and sums them over the ranks. Returns
/// the signal that has ended this work early on all ranks; 0 if none has.
REDCO_INLINE int worker::compute_losses(std::vector<data::interval> const& micro_batches, loss_function loss,
                                        run::loss_totals& totals) {
  at::NoGradGuard const no_grad;
  run::detail::values_of_networks values(networks_, rank_);
  bool const may_stop = !verifier_ && !(updated_ && step() + 1 >= options_.steps);
  auto const own = static_cast<std::int64_t>(micro_batches.size());
  at::Tensor const most = at::full({1}, own, at::kLong);
  rank_.world.all_reduce(most, comm::reduce_op::max);
  std::int64_t const rounds = std::max<std::int64_t>(most.item<std::int64_t>(), 1);
  int signal = 0;
  for (std::int64_t k = 0; k < rounds; ++k) {
    // Ranks meet here after equal numbers of calls, because each round joins the calls of others.
    if (may_stop && k > 0) signal = state_.signal_of_all(where_.stop_requested());
    if (signal != 0) break;
    if (k < own) {
      data::interval const& at = micro_batches[static_cast<std::size_t>(k)];
      totals.add(loss(state_.pass(at.begin, at.size(), false)));
    }
    for (auto const& [name, network] : networks_) nn::join_calls(network->network(), state_.pass(0, 0, false));
    values.join();
  }
  totals.reduce(rank_);
  return signal;
}

REDCO_INLINE options::metric_map worker::mean_loss_of(std::vector<data::interval> const& micro_batches,
                                                      loss_function loss) {
  run::loss_totals totals;
  int const signal = compute_losses(micro_batches, loss, totals);
  options::metric_map metrics = totals.metrics();
  if (signal == 0) return metrics;
  if (!updated_) {
    if (!state_.is_saved()) {
      begin();
      save_under({}, true);
    }
    where_.stop_answered();
    throw run::stopped_by(signal, step());
  }
  evaluation_stopped_ = true;
  for (auto& [name, value] : metrics) value = std::numeric_limits<double>::quiet_NaN();
  if (rank_.rank == 0)
    where_.log().line("a signal has ended the evaluation of step " + std::to_string(step() + 1) +
                      ", which has no value");
  return metrics;
}

REDCO_INLINE options::metric_map worker::evaluated(options::metric_map metrics) {
  begin();
  if (!evaluation_stopped_) record_.evaluated(metrics, step() + 1);
  return metrics;
}

/// Begins the loop after resume(). Called by the first update, evaluation or end of a step.
REDCO_INLINE void worker::begin() {
  if (std::exchange(begun_, true) || verifier_) return;
  state_.set_older_aside();
  record_.begin(step());
  if (rank_.rank != 0) return;
  where_.run_began();
  std::int64_t const kept = options_.keep_last > 0    ? options_.keep_last
                            : options_.save_every > 0 ? options_.steps / options_.save_every + 1
                                                      : 1;
  if (!finished())
    run::check_room(where_, state_, kept + std::ssize(options_.save_argmin) + std::ssize(options_.save_argmax));
}

REDCO_INLINE void worker::end_step() {
  begin();
  if (verifier_) verifier_->end_step(step());
  updated_ = evaluation_stopped_ = false;
  state_.end_step();
  diag::run_position::begin_step(step());
  if (verifier_) return;
  record_.end_step(step());
  int const signal = state_.signal_of_all(where_.stop_requested());
  std::vector<std::string> const best = record_.take_names();
  bool const last = signal != 0 || finished();
  bool const due = options_.save_every > 0 && step() % options_.save_every == 0;
  if (last || due || !best.empty()) save_under(best, last);
  if (signal == 0 || finished()) return;
  where_.stop_answered();
  throw run::stopped_by(signal, step());
}

REDCO_INLINE void worker::save_under(std::vector<std::string> const& names, bool last) {
  workdir::save_options to;
  to.pointers = names;
  to.keep_last = options_.keep_last;
  to.facts.config = settings_;
  to.facts.best = record_.best().best();
  to.facts.patience = record_.best().patience();
  if (!saves_.attempt(last, [&] { checkpoint_ = state_.save(to); })) return record_.best().restore(saved_best_);
  saved_best_ = record_.best().best();
  record_.saved();
}

}  // namespace redco
