#pragma once

#include <redco/run/run_state.hpp>

#include <redco/run/process_choices.hpp>
#include <redco/ckpt/check_replicas.hpp>
#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/ckpt/write_on_first.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/workdir/branch.hpp>
#include <redco/workdir/changed_settings.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstring>
#include <utility>

namespace redco::run::detail {

inline constexpr char const* object_prefix = "object.";
inline constexpr char const* program_key = "program file";

/// Returns the key under which a checkpoint's manifest has the number of updates of a network.
inline std::string updates_key(network_state const& network) {
  return network.name.empty() ? "model" : network.name.substr(0, network.name.size() - 1);
}

inline at::Tensor bytes_tensor(std::string const& text) {
  at::Tensor const bytes = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  if (!text.empty()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE run_state::run_state(deployer& where, rank_context& rank, std::string const& id)
    : where_(where), rank_(rank), id_(comm::broadcast_text(rank.world, id)), seed_(where.options().seed) {}

REDCO_INLINE void run_state::keep(std::string const& name, kept_object object) {
  if (!safetensors::tensor_name(name) || !objects_.emplace(name, std::move(object)).second)
    throw error(exit_code::usage, "kept under " + safetensors::shown(name) + ": give each object a name of its own");
}

REDCO_INLINE void run_state::end_step() {
  ++step_;
  rank_.first_step_done();
  if (rank_.rank == 0 && step_ == first_step_ + 1) where_.failures().forget_starts();
}

REDCO_INLINE redco::pass run_state::pass(std::int64_t first, std::int64_t examples, bool training) const {
  redco::pass in = pass_of_step(where_, rank_, seed_, step_, training).with_examples(first, examples);
  if (training && layers_ != nullptr) {
    in.layers = layers_;
    in.recompute = {};
    in.shard_lane = nullptr;
  }
  return in;
}

REDCO_INLINE int run_state::signal_of_all(int own) const {
  at::Tensor const signal = at::full({1}, own, at::kLong);
  rank_.world.all_reduce(signal, comm::reduce_op::max);
  return static_cast<int>(signal.item<std::int64_t>());
}

REDCO_INLINE std::optional<workdir::found_checkpoint> run_state::find() const {
  if (rank_.rank == 0) workdir::sweep_checkpoints(where_.lock(), id_);
  return ckpt::find_checkpoint(
      rank_.world, where_.workdir(), where_.options().resume,
      {.branches = true, .warn = [this](std::string const& text) { where_.log().warning(text); }}, parts({}),
      where_.disk_limits());
}

REDCO_INLINE workdir::best_metrics::table run_state::load(workdir::found_checkpoint const& found) {
  std::map<std::string, at::Tensor> objects;
  // A missing object gets 0 bytes here; load_checkpoint reports it together with the parameters
  // that differ.
  if (rank_.rank == 0) {
    for (auto const& [name, object] : objects_) {
      auto const stored = found.facts.tensors.find(detail::object_prefix + name);
      objects[name] = at::empty({stored == found.facts.tensors.end() ? 0 : stored->second.shape.at(0)}, at::kByte);
    }
  }
  ckpt::load_checkpoint(found, parts(objects), rank_.world, {.unread = {}, .disk = where_.disk_limits()});
  for (auto const& [name, object] : objects_) {
    std::string text;
    if (rank_.rank == 0)
      text.assign(static_cast<char const*>(objects[name].const_data_ptr()),
                  static_cast<std::size_t>(objects[name].numel()));
    object.read(comm::broadcast_text(rank_.world, text), found.directory.string() + ": \"" + name + "\"");
  }
  step_ = first_step_ = found.facts.step;
  for (network_state* one : networks_) {
    auto const known = found.facts.updates.find(detail::updates_key(*one));
    // Checkpoints of versions without this key had one update per step.
    one->updates = known != found.facts.updates.end() ? known->second : step_;
  }
  seed_ = found.facts.rng.seed;
  id_ = found.facts.run;
  start_ = found.directory;
  branch_ = found.facts.branch;
  workdir::best_metrics::table best;
  if (rank_.rank == 0) {
    best = workdir::repair_checkpoints(where_.lock(), found);
    where_.log().line("resumed from " + found.directory.string() + " after step " + std::to_string(step_));
    if (branch_.step < step_ && !branch_.path.empty())
      where_.log().line("this continues the branch that began at " + workdir::path_of_branch(branch_.path).string() +
                        " after step " + std::to_string(branch_.step) + "; another --workdir begins one anew");
    if (seed_ != where_.options().seed)
      where_.log().warning("resuming with seed " + std::to_string(seed_) + " of its checkpoint, not with " +
                           std::to_string(where_.options().seed));
  }
  broadcast_from_first(best, rank_.world, "the best metrics");
  bool is_here = workdir::is_step_of(where_.workdir() / workdir::checkpoint_names::folder, found.directory);
  broadcast_from_first(is_here, rank_.world, "the place of the checkpoint");
  saved_step_ = is_here ? step_ : -1;
  return best;
}

REDCO_INLINE void run_state::set_older_aside() {
  if (std::exchange(older_are_aside_, true)) return;
  ckpt::write_on_first(rank_.world, "renaming older checkpoints", where_.disk_limits(), [&] {
    std::string names;
    for (std::string const& name : workdir::set_older_aside(where_.lock(), start_, branch_))
      names += (names.empty() ? "" : ", ") + name;
    if (names.empty()) return;
    where_.log().line("checkpoints in " + (where_.workdir() / workdir::checkpoint_names::folder).string() +
                      " that this run does not continue are renamed to .older-*: " + names);
  });
}

REDCO_INLINE void run_state::compare_settings(workdir::manifest const& saved,
                                              std::map<std::string, std::string> const& settings) const {
  std::string const changed = workdir::changed_settings(saved.config, settings);
  if (rank_.rank == 0 && !changed.empty())
    where_.log().warning("resuming with settings that differ from the checkpoint's: " + changed);
}

REDCO_INLINE void run_state::compare_digests(workdir::found_checkpoint const& saved,
                                             std::map<std::string, std::string> of_data) const {
  std::string changed;
  if (rank_.rank == 0) {
    of_data[detail::program_key] = program_digest();
    changed = workdir::changed_digests(saved.facts.digests, of_data);
    if (!changed.empty()) changed = saved.directory.string() + " was saved with " + changed;
  }
  changed = comm::broadcast_text(rank_.world, changed);
  if (changed.empty()) return;
  if (where_.options().strict_resume)
    throw error(exit_code::data,
                changed + ": give the same data and program, or leave out --strict-resume to continue with a warning");
  if (rank_.rank == 0) where_.log().warning(changed + "; the run continues with them");
}

REDCO_INLINE std::filesystem::path run_state::save(workdir::save_options to) {
  for (network_state const* one : networks_) one->check_finite(step_);
  std::map<std::string, at::Tensor> objects;
  if (rank_.rank == 0)
    for (auto const& [name, object] : objects_) objects[name] = detail::bytes_tensor(object.bytes());
  describe(to);
  to.facts.branch = branch_;
  if (rank_.rank == 0) to.facts.digests[detail::program_key] = program_digest();
  for (network_state const* one : networks_) to.facts.updates[detail::updates_key(*one)] = one->updates;
  to.facts.mesh = rank_.mesh;
  to.facts.rng = {seed_, static_cast<std::uint64_t>(step_)};
  std::vector<ckpt::state_part> const all = parts(objects);
  ckpt::check_replicas(all, rank_.world, step_, to.disk);
  auto const path = ckpt::save_checkpoint(to, all, rank_.world);
  saved_step_ = step_;
  return path;
}

REDCO_INLINE void run_state::load_network(std::filesystem::path const& path, network_state& network) const {
  auto const parts = network.parts();
  auto const found =
      ckpt::find_checkpoint(rank_.world, where_.workdir(), path.string(), {}, parts, where_.disk_limits());
  ckpt::load_checkpoint(found.value(), parts, rank_.world, {.unread = {}, .disk = where_.disk_limits()});
}

/// Fills in the workdir, its lock, the run and the step.
REDCO_INLINE void run_state::describe(workdir::save_options& to) {
  to.workdir = where_.workdir();
  to.facts.run = id_;
  to.facts.step = step_;
  to.disk = where_.disk_limits();
  if (rank_.rank != 0) return;
  to.lock = &where_.lock();
  to.kept = &kept_checkpoints_;
  if (std::string const failure = kept_checkpoints_.take_failure(); !failure.empty())
    where_.log().warning("an old checkpoint is not removed: " + failure);
}

REDCO_INLINE std::filesystem::path run_state::amend(workdir::save_options to) {
  describe(to);
  return ckpt::amend_checkpoint(to, rank_.world);
}

REDCO_INLINE std::vector<ckpt::state_part> run_state::parts(std::map<std::string, at::Tensor> const& objects) const {
  std::vector<ckpt::state_part> all;
  for (network_state const* one : networks_)
    for (ckpt::state_part& part : one->parts()) all.push_back(std::move(part));
  for (auto const& [name, bytes] : objects) {
    std::vector<std::int64_t> const size{bytes.numel()};
    all.push_back({detail::object_prefix + name, size, bytes, {{0}, size}, true});
  }
  return all;
}

}  // namespace redco::run
