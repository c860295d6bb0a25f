#pragma once

#include <redco/run/worker.hpp>

#include <redco/run/step_graphs.hpp>
#include <redco/run/stopped_by.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/config_settings.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/new_run_id.hpp>
#include <redco/workdir/results_file.hpp>
#include <redco/workdir/run_config.hpp>
#include <redco/workdir/summarise.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/run_place.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <exception>

namespace redco {

REDCO_INLINE worker::worker(deployer& where, rank_context& rank, worker_options const& options)
    : where_(where), rank_(rank), options_(options), state_(where, rank, workdir::new_run_id()), weights_(where.log()) {
  if (options.steps < 1)
    throw error(exit_code::usage, "a worker of " + std::to_string(options.steps) + " steps: give 1 or more");
  if (options.save_every < 0 || options.keep_last < 0)
    throw error(exit_code::usage, "a worker with save_every " + std::to_string(options.save_every) + " and keep_last " +
                                      std::to_string(options.keep_last) + ": give 0 or more");
  if (where.options().cuda_graph) run::step_graphs::refuse("a worker's steps are the program's own");
  if (where.verified() != nullptr) verifier_ = std::make_unique<run::loop_verifier>(*where.verified(), rank);
  if (rank_.rank == 0 && !verifier_) {
    where_.claim_workdir();
    where_.summary().emplace();
  }
  settings_["steps"] = std::to_string(options.steps);
  settings_.merge(workdir::config_settings(options.config));
}

REDCO_INLINE worker::~worker() {
  if (rank_.rank != 0 || verifier_) return;
  workdir::run_summary& s = where_.summary().emplace();
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  s.unit = "steps";
  if (std::uncaught_exceptions() > 0) {  // what went wrong is told by who catches it
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
  record.per_second = s.seconds > 0 ? static_cast<double>(step() - state_.first_step()) / s.seconds : 0;
  workdir::summarise(s, record, where_.workdir(), where_.failures());
}

/// Compares what a network was told between the processes, before it is made. Errors: exit code 64
/// on all of them.
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
  for (stored_parameter const& p : follower.store.parameters()) {
    stored_parameter const* const from = leader.store.find(p.name);
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
    state_.load(*found);
    state_.compare_settings(found->facts, settings_);
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

REDCO_INLINE step_result worker::update(run::network_state& network, mean const& loss) {
  std::string const& name = name_of(network);
  training_step one(network, rank_, false, where_.gradient_bucket());
  one.expect_last();
  if (verifier_) one.watch(&verifier_->watch());
  one.add(loss);
  step_result const result = one.finish(step(), options_.steps, false);
  if (verifier_) verifier_->end_update(name, step(), result);
  if (rank_.rank == 0) weights_.after_update(result, step() + 1, name);
  return result;
}

REDCO_INLINE void worker::end_step() {
  if (verifier_) verifier_->end_step(step());
  state_.end_step();
  diag::run_place::begin_step(step());
  if (verifier_) return;
  int const signal = state_.signal_of_all(where_.stop_requested());
  if (signal != 0 || finished() || (options_.save_every > 0 && step() % options_.save_every == 0)) save();
  if (signal == 0 || finished()) return;
  where_.stop_answered();
  throw run::stopped_by(signal, step());
}

REDCO_INLINE void worker::save() {
  if (verifier_ || state_.is_saved()) return;
  workdir::save_options to;
  to.keep_last = options_.keep_last;
  to.facts.config = settings_;
  checkpoint_ = state_.save(to);
}

}  // namespace redco
