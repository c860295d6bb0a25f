#pragma once

#include <redco/run/worker.hpp>

#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/comm/broadcast_text.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/new_run_id.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/workdir/summarise.hpp>
#include <redco/workdir/sweep_checkpoints.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/random/stream.hpp>
#include <redco/diag/run_place.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstring>
#include <exception>

namespace redco::run::detail {

inline at::Tensor bytes_tensor(std::string const& text) {
  at::Tensor const bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

inline constexpr char const* object_prefix = "object.";

}  // namespace redco::run::detail

namespace redco {

REDCO_INLINE worker::worker(deployer& where, rank_context& rank, worker_options const& options)
    : where_(where), rank_(rank), options_(options), seed_(where.options().seed) {
  if (options.steps < 1)
    throw error(exit_code::usage, "a worker of " + std::to_string(options.steps) + " steps: give 1 or more");
  if (rank_.rank == 0) {
    where_.claim_workdir();
    run_ = workdir::new_run_id();
    where_.summary().emplace();
  }
  run_ = comm::broadcast_text(rank_.world, run_);
  keep("updates", updates_);
}

REDCO_INLINE worker::~worker() {
  if (rank_.rank != 0) return;
  workdir::run_summary& s = where_.summary().emplace();
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  s.unit = "steps";
  if (std::uncaught_exceptions() > 0) {  // what went wrong is told by who catches it
    s.step = step_;
    s.steps = options_.steps;
    s.checkpoint = checkpoint_.string();
    return;
  }
  workdir::fit_record record;
  record.started(step_, 0);
  record.steps = options_.steps;
  record.checkpoint = checkpoint_;
  record.unit = s.unit;
  record.per_second = s.seconds > 0 ? static_cast<double>(step_ - first_step_) / s.seconds : 0;
  workdir::summarise(s, record, where_.workdir(), where_.failures());
}

/// Networks of one seed draw different numbers, and one without a name draws those of a trainer.
REDCO_INLINE std::uint64_t worker::seed_of(std::string const& name) const {
  std::uint32_t site = 2166136261u;  // FNV-1a
  for (char const c : name) site = (site ^ static_cast<unsigned char>(c)) * 16777619u;
  random::stream const key = random::make_stream(where_.options().seed, site, 0, 0);
  return (static_cast<std::uint64_t>(key.k1) << 32) | key.k0;
}

REDCO_INLINE void worker::take(std::string const& name, std::unique_ptr<run::network_state> made) {
  if (!safetensors::tensor_name(name) || networks_.contains(name))
    throw error(exit_code::usage, "a network " + safetensors::shown(name) + ": give each a name of its own");
  made->name = name + ".";
  made->store.publish();
  updates_[name] = 0;
  networks_.emplace(name, std::move(made));
}

REDCO_INLINE void worker::keep_object(std::string const& name, kept_object object) {
  if (!safetensors::tensor_name(name) || !objects_.emplace(name, std::move(object)).second)
    throw error(exit_code::usage, "kept under " + safetensors::shown(name) + ": give each object a name of its own");
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

REDCO_INLINE std::vector<ckpt::state_part> worker::parts(std::map<std::string, at::Tensor> const& objects) const {
  std::vector<ckpt::state_part> all;
  for (auto const& [name, one] : networks_)
    for (ckpt::state_part& part : one->parts()) all.push_back(std::move(part));
  for (auto const& [name, bytes] : objects) {
    std::vector<std::int64_t> const size{bytes.numel()};
    all.push_back({run::detail::object_prefix + name, size, bytes, {{0}, size}, true});
  }
  return all;
}

REDCO_INLINE void worker::resume() {
  if (rank_.rank == 0) workdir::sweep_checkpoints(where_.lock(), run_);
  auto const found = ckpt::find_checkpoint(rank_.world, where_.workdir(), where_.options().resume,
                                           {.warn = [this](std::string const& text) { where_.log().warning(text); }});
  if (!found) return;
  std::map<std::string, at::Tensor> objects;
  if (rank_.rank == 0) {  // what is missing is told with the parameters that differ
    for (auto const& [name, object] : objects_) {
      auto const stored = found->facts.tensors.find(run::detail::object_prefix + name);
      objects[name] = at::empty({stored == found->facts.tensors.end() ? 0 : stored->second.shape.at(0)}, at::kByte);
    }
  }
  ckpt::load_checkpoint(*found, parts(objects), rank_.world);
  for (auto const& [name, object] : objects_) {
    std::string text;
    if (rank_.rank == 0)
      text.assign(static_cast<char const*>(objects[name].const_data_ptr()),
                  static_cast<std::size_t>(objects[name].numel()));
    object.read(comm::broadcast_text(rank_.world, text), found->directory.string() + ": \"" + name + "\"");
  }
  first_step_ = step_ = saved_step_ = found->facts.step;
  seed_ = found->facts.rng.seed;
  run_ = found->facts.run;
  checkpoint_ = found->directory;
  if (rank_.rank != 0) return;
  workdir::repair_checkpoints(where_.lock(), *found);
  where_.log().line("resumed from " + found->directory.string() + " after step " + std::to_string(step_));
}

REDCO_INLINE redco::pass worker::pass(std::int64_t first, std::int64_t examples, bool training) const {
  redco::pass in;
  in.tp = &rank_.tp;
  in.rank = &rank_;
  in.round.ranks = &rank_.group(example_axes);
  in.training = training;
  in.recompute = where_.options().recompute;
  in.seed = seed_;
  in.step = static_cast<std::uint64_t>(step_);
  in.first_example = first;
  in.examples = examples;
  return in;
}

REDCO_INLINE step_result worker::update(run::network_state& network, mean const& loss) {
  training_step one(network, rank_);
  one.add(loss);
  std::int64_t& done = updates_.at(network.name.substr(0, network.name.size() - 1));
  return one.finish(done++, options_.steps, false);
}

REDCO_INLINE void worker::end_step() {
  ++step_;
  diag::run_place::begin_step(step_);
  rank_.first_step_done();
  at::Tensor const stop = at::full({1}, where_.stop_requested(), at::kLong);
  rank_.world.all_reduce(stop, comm::reduce_op::max);
  auto const signal = static_cast<int>(stop.item<std::int64_t>());
  if (signal != 0 || finished() || (options_.save_every > 0 && step_ % options_.save_every == 0)) save();
  if (signal == 0 || finished()) return;
  throw error(exit_code::preempted, "stopped by " + std::string(diag::signal_name(signal)) + " after step " +
                                        std::to_string(step_) + "; the run is saved: the same command goes on");
}

REDCO_INLINE void worker::save() {
  if (saved_step_ == step_) return;
  for (auto const& [name, one] : networks_) one->check_finite(step_);
  std::map<std::string, at::Tensor> objects;
  if (rank_.rank == 0)
    for (auto const& [name, object] : objects_) objects[name] = run::detail::bytes_tensor(object.bytes());
  workdir::save_options to;
  to.workdir = where_.workdir();
  to.keep_last = options_.keep_last;
  to.facts.run = run_;
  to.facts.step = step_;
  to.facts.mesh = rank_.mesh;
  to.facts.rng = {seed_, static_cast<std::uint64_t>(step_)};
  checkpoint_ = ckpt::save_checkpoint(to, parts(objects), rank_.world);
  saved_step_ = step_;
}

}  // namespace redco
