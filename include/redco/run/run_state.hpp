#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/network_state.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/watches.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/disk_limits.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/workdir/retention.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/signals.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redco::run {

/// Returns the pass (settings of a forward call) of step `step` on a rank. The caller adds the
/// examples of each micro-batch.
inline pass pass_of_step(deployer const& where, rank_context& rank, std::uint64_t seed, std::int64_t step,
                         bool training = true) {
  nn::pass_choices choices{.recompute = where.options().recompute};
  if (training && where.overlaps_shards() && rank.tp.size() > 1) choices.shard_lane = &rank.lane(shape::axis::tp);
  return training ? nn::training_pass(rank, seed, step, choices) : nn::evaluation_pass(rank, seed, step, choices);
}

/// Replaces `object` on all ranks by rank 0's object, so that all ranks take equal decisions. All
/// ranks call it. `Object`: any type that cereal can serialize. `name`: name of the object in error
/// messages.
template <class Object>
void broadcast_from_first(Object& object, comm::group& world, char const* name) {
  std::string const text =
      comm::broadcast_text(world, world.rank() == 0 ? workdir::object_bytes(object) : std::string());
  if (world.rank() != 0) workdir::read_object(text, object, name);
}

/// Returns the error with exit code 75 that ends a run after a signal. The caller throws it after
/// everything is saved.
inline error stopped_by(int signal, std::int64_t step) {
  return {exit_code::preempted, "stopped by " + std::string(diag::signal_name(signal)) + " after step " +
                                    std::to_string(step) + "; the run is saved: the same command continues it"};
}

/// The state of a run that checkpoints save and restore, as one rank has it: networks with
/// optimizers, the user's objects, step, seed and run id. Both a trainer's and a worker's loop use
/// it. All ranks call its members in the same order; rank 0 alone writes files.
class run_state {
 public:
  /// A user's object in checkpoints: a function that converts the object to bytes, and one that
  /// sets the object from bytes.
  struct kept_object {
    std::function<std::string()> bytes;
    std::function<void(std::string const&, std::string const& name)> read;
  };

  /// Returns functions that convert `state` to bytes and back. `state` must outlive them. `State`:
  /// any type that cereal can serialize or that has `serialize(archive)`.
  template <class State>
  static kept_object kept(State& state) {
    return {[&state] { return workdir::object_bytes(state); },
            [&state](std::string const& bytes, std::string const& name) { workdir::read_object(bytes, state, name); }};
  }

  /// Makes the state of a run at step 0. On all ranks, the run gets the `id` that rank 0 passes.
  run_state(deployer& where, rank_context& rank, std::string const& id);

  /// Adds a network, which checkpoints save and load. The network must outlive the run state.
  void add(network_state& network) { networks_.push_back(&network); }
  /// Adds an object, which checkpoints save and load under `name`. Throws `error` with exit code 64
  /// if another object has this name.
  void keep(std::string const& name, kept_object object);

  std::string const& id() const { return id_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t step() const { return step_; }
  std::int64_t first_step() const { return first_step_; }
  /// Returns true if the workdir has a checkpoint of this step of the run.
  bool is_saved() const { return saved_step_ == step_; }

  /// Ends a step: increments step(), and after the first step switches to the deadline of later
  /// steps. Call it once after all updates of a step.
  void end_step();

  /// Returns the pass (settings of a forward call) for `examples` examples of this rank. `first`:
  /// index of this rank's first example in the step's global batch.
  redco::pass pass(std::int64_t first, std::int64_t examples, bool training = true) const;

  /// Sets the observer of layers in training passes, which must outlive them; null for none.
  void watch_layers(nn::layer_watch* layers) { layers_ = layers; }

  /// Returns the largest of the signal numbers `own` that the ranks pass; 0 if no rank has received
  /// a signal. All ranks call it, so that all end the run together.
  int signal_of_all(int own) const;

  /// Returns the checkpoint from which the option --resume asks to continue; empty if there is
  /// none.
  std::optional<workdir::found_checkpoint> find() const;

  /// Loads a checkpoint and continues from its step. Returns the best metric values in it whose
  /// checkpoints are in this workdir. Throws `error` with exit code 65 and the differences if the
  /// checkpoint has other networks or objects.
  workdir::best_metrics::table load(workdir::found_checkpoint const& found);

  /// Renames to `.older-*` the checkpoints in the workdir that this run does not continue, and logs
  /// their names. Call it on all ranks, after load() and before the first save(). Does nothing on a
  /// second call.
  void set_older_aside();

  /// Loads the values of `network`, but not the rest of the state, from the checkpoint at `path`.
  void load_network(std::filesystem::path const& path, network_state& network) const;

  /// Logs a warning on rank 0 if `settings` differ from the settings in the checkpoint `saved`.
  void compare_settings(workdir::manifest const& saved, std::map<std::string, std::string> const& settings) const;

  /// Compares the run's program file, and the data with the digests `of_data`, with those of the
  /// checkpoint `saved`. All ranks call it; rank 0's digests count. Logs a warning if they differ;
  /// with --strict-resume, throws `error` with exit code 65 instead.
  void compare_digests(workdir::found_checkpoint const& saved, std::map<std::string, std::string> of_data) const;

  /// Saves a checkpoint of this step and returns its path. `to` contains the manifest data that
  /// only the caller knows, such as epoch and best values. Throws `error` with exit code 79 if a
  /// parameter is not finite, with 70 if replicas differ, and the errors of save_checkpoint.
  std::filesystem::path save(workdir::save_options to);

  /// Changes what the manifest of this step's checkpoint says about evaluations, and adds names.
  /// Requires is_saved(). Returns the path of the checkpoint. Throws the errors of
  /// amend_checkpoint.
  std::filesystem::path amend(workdir::save_options to);

  /// Returns the number of bytes of a checkpoint on disk, without the user's objects.
  std::uintmax_t bytes_to_save() const { return ckpt::checkpoint_bytes(parts({})); }

 private:
  void describe(workdir::save_options& to);
  std::vector<ckpt::state_part> parts(std::map<std::string, at::Tensor> const& objects) const;

  deployer& where_;
  rank_context& rank_;
  std::vector<network_state*> networks_;
  std::map<std::string, kept_object> objects_;
  std::string id_;
  std::uint64_t seed_;
  std::int64_t step_ = 0, first_step_ = 0, saved_step_ = -1;
  workdir::retention kept_checkpoints_;
  std::filesystem::path start_;  ///< checkpoint from which the run continues; empty for a new run
  workdir::manifest::branch_facts branch_;
  bool older_are_aside_ = false;
  nn::layer_watch* layers_ = nullptr;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/run_state.inl.hpp>
#endif
