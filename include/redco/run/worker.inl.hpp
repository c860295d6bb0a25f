#pragma once

#include <redco/run/worker.hpp>

#include <redco/run/step_graphs.hpp>
#include <redco/run/stopped_by.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/new_run_id.hpp>
#include <redco/workdir/summarise.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/diag/run_place.hpp>
#include <redco/config.hpp>

#include <exception>

namespace redco {

REDCO_INLINE worker::worker(deployer& where, rank_context& rank, worker_options const& options)
    : where_(where), rank_(rank), options_(options), state_(where, rank, workdir::new_run_id()) {
  if (options.steps < 1)
    throw error(exit_code::usage, "a worker of " + std::to_string(options.steps) + " steps: give 1 or more");
  if (where.options().cuda_graph) run::step_graphs::refuse("a worker's steps are the program's own");
  if (rank_.rank == 0) {
    where_.claim_workdir();
    where_.summary().emplace();
  }
  keep("updates", updates_);
}

REDCO_INLINE worker::~worker() {
  if (rank_.rank != 0) return;
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

REDCO_INLINE void worker::take(std::string const& name, std::unique_ptr<run::network_state> made) {
  if (!safetensors::tensor_name(name) || networks_.contains(name))
    throw error(exit_code::usage, "a network " + safetensors::shown(name) + ": give each a name of its own");
  made->name = name + ".";
  made->store.publish();
  updates_[name] = 0;
  state_.add(*networks_.emplace(name, std::move(made)).first->second);
}

REDCO_INLINE void worker::follow(run::network_state const& leader, run::network_state& follower, double share) {
  at::NoGradGuard const no_grad;
  for (stored_parameter const& p : follower.store.parameters()) {
    at::Tensor const& goal = leader.store.find(p.name)->master;
    if (share == 1) at::Tensor(p.master).copy_(goal);
    else at::Tensor(p.master).lerp_(goal, share);
  }
  follower.store.publish();
}

REDCO_INLINE void worker::resume() {
  if (auto const found = state_.find()) {
    state_.load(*found);
    checkpoint_ = found->directory;
  }
}

REDCO_INLINE step_result worker::update(run::network_state& network, mean const& loss) {
  training_step one(network, rank_, false, where_.gradient_bucket());
  one.expect_last();
  one.add(loss);
  std::int64_t& done = updates_.at(network.name.substr(0, network.name.size() - 1));
  return one.finish(done++, options_.steps, false);
}

REDCO_INLINE void worker::end_step() {
  state_.end_step();
  diag::run_place::begin_step(step());
  int const signal = state_.signal_of_all(where_.stop_requested());
  if (signal != 0 || finished() || (options_.save_every > 0 && step() % options_.save_every == 0)) save();
  if (signal == 0 || finished()) return;
  where_.stop_answered();
  throw run::stopped_by(signal, step());
}

REDCO_INLINE void worker::save() {
  if (state_.is_saved()) return;
  workdir::save_options to;
  to.keep_last = options_.keep_last;
  checkpoint_ = state_.save(to);
}

}  // namespace redco
