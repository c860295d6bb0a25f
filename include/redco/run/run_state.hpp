#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/network_state.hpp>
#include <redco/nn/pass.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/workdir/best_metrics.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/workdir/save_options.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redco::run {

/// What of a run is saved and gone on with, as one rank has it: its networks with their optimizers, objects of the user's own, the
/// step, the seed and the run's id. A trainer's loop and a worker are two ways to drive it. All ranks call its members in the same
/// order; rank 0 alone writes.
class run_state {
 public:
  /// An object as bytes, and from them.
  struct kept_object {
    std::function<std::string()> bytes;
    std::function<void(std::string const&, std::string const& what)> read;
  };

  /// An object of any type that cereal knows or that has `serialize(archive)`, which outlives what
  /// keeps it.
  template <class State>
  static kept_object kept(State& state) {
    return {[&state] { return workdir::object_bytes(state); },
            [&state](std::string const& bytes, std::string const& what) { workdir::read_object(bytes, state, what); }};
  }

  /// A run that begins; rank 0's id is its id.
  run_state(deployer& where, rank_context& rank, std::string const& id);

  /// Networks and objects that are saved and loaded; they outlive this. Errors: exit code 64 for a name that is taken.
  void add(network_state& network) { networks_.push_back(&network); }
  void keep(std::string const& name, kept_object object);

  std::string const& id() const { return id_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t step() const { return step_; }
  std::int64_t first_step() const { return first_step_; }
  bool is_saved() const { return saved_step_ == step_; }

  /// Increments step() and switches the deadline after the first step. Call it once after all
  /// updates of a step.
  void end_step();

  /// What a network is called in: `examples` of this rank, from the `first` of the step on.
  redco::pass pass(std::int64_t first, std::int64_t examples, bool training = true) const;

  /// The largest of what the ranks give: the signal that ends the run, 0 for none.
  int signal_of_all(int own) const;

  /// The newest checkpoint, where there is one and --resume says so.
  std::optional<workdir::found_checkpoint> find() const;

  /// Goes on from it; gives the best metrics of which it knows and whose checkpoints are here. Errors: exit code 65 with what
  /// differs for a checkpoint of others.
  workdir::best_metrics::table load(workdir::found_checkpoint const& found);

  /// Warns, on rank 0, of settings that differ from those of a checkpoint.
  void compare_settings(workdir::manifest const& saved, std::map<std::string, std::string> const& settings) const;

  /// Saves a checkpoint of this step, with facts of the caller's own; its path. Errors: exit code 79 for parameters that are not
  /// finite, and those of save_checkpoint.
  std::filesystem::path save(workdir::save_options to);

  /// What a checkpoint takes on the disk, on this rank.
  std::uintmax_t bytes_to_save() const;

 private:
  std::vector<ckpt::state_part> parts(std::map<std::string, at::Tensor> const& objects) const;

  deployer& where_;
  rank_context& rank_;
  std::vector<network_state*> networks_;
  std::map<std::string, kept_object> objects_;
  std::string id_;
  std::uint64_t seed_;
  std::int64_t step_ = 0, first_step_ = 0, saved_step_ = -1;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/run_state.inl.hpp>
#endif
