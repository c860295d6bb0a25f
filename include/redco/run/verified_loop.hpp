#pragma once

#include <redco/run/compare_updates.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/update_noise.hpp>
#include <redco/run/verify_records.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/nn/watches.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redco {

class deployer;

}  // namespace redco

namespace redco::run {

/// A comparison (--verify) of a training loop that the user writes. In f64, one rank runs the loop,
/// and its updates are recorded. One rank runs the loop again with slightly other values, which
/// measures the noise of rounding. Then all ranks of the mesh run the loop and compare their
/// updates with the record. If the program computes in another dtype, all of them also run the loop
/// in that dtype. One object per process.
class verified_loop {
 public:
  /// Prepares to compare the first `steps` steps of the loop in which a network changes.
  verified_loop(deployer& where, std::int64_t steps);

  /// Runs the loop `f` several times. Returns false if `f` makes no worker, without which nothing
  /// can be compared; then each rank of the mesh has called `f` once.
  bool run(tensors::function_ref<void(rank_context&)> f);

  /// Returns the result of comparing all updates. Throws `error` with exit code 64 if the loop had
  /// no step.
  verify_result result() const;

 private:
  friend class loop_verifier;

  enum class purpose { record, shake, compare, observe };

  struct event {
    std::string name;
    update_record record;
  };

  void compare(tensors::function_ref<void(rank_context&)> f);
  void find_layer(tensors::function_ref<void(rank_context&)> f, std::size_t first);

  deployer& where_;
  std::int64_t wanted_;
  dtype computed_;  ///< dtype of the program
  purpose purpose_ = purpose::record;
  bool has_worker_ = false;
  std::vector<event> alone_;  ///< recorded updates of the loop on one rank, in order
                              /// Recorded updates in f64, if the program computes in another dtype
  std::vector<event> exact_;
  std::vector<event> shaken_;        ///< updates of the loop on one rank with slightly other values
  std::vector<update_noise> noise_;  ///< noise of each update of `alone_`
  std::int64_t steps_ = 0;           ///< number of steps that the recorded loop ran on one rank
  std::vector<compared_update> compared_;

  /// Index of the first update that differs, among those of its run
  std::size_t observed_ = 0;
  bool forward_differs_ = false;
  double activation_ = 0;                      ///< allowed difference of activations
  std::unique_ptr<activation_record> layers_;  ///< activations of the observed update on one rank
  std::string layer_;                          ///< path of the first layer that differs
};

/// The part of a worker that records or compares its updates for --verify; one per worker. All
/// ranks call its members in the same order.
class loop_verifier {
 public:
  loop_verifier(verified_loop& all, rank_context& rank);

  /// Adds a network of the worker. Besides its updates, its whole change in each step is compared.
  void add(std::string const& name, network_state const& network);

  /// Begins the loop: stores the networks' current values, from which the first step's changes
  /// count.
  void begin();

  /// Returns the observer to use in training passes, which records activations; null if none are
  /// needed.
  nn::layer_watch* layers() const { return layers_.get(); }

  /// Returns the observer to pass to the next optimizer step, which records the step's update.
  step_watch& watch() { return of_update_; }

  /// Ends an update of a network in step `step`, counted from 0. On one rank records the update, on
  /// the mesh compares it.
  void end_update(std::string const& network, std::int64_t step, step_result const& result);

  /// Ends step `step`, counted from 0. On one rank records the change of each network in the step,
  /// on the mesh compares it.
  void end_step(std::int64_t step);

  /// Returns true if the loop may end after `steps` steps, because enough steps have changed a
  /// network. On the mesh, also returns true after as many steps as on one rank.
  bool done(std::int64_t steps) const;

 private:
  struct followed {
    std::string name;
    network_state const* network;
    update_recorder changes;
  };

  void take(std::string const& name, update_record record);
  void observe();

  verified_loop& all_;
  rank_context& rank_;
  update_recorder of_update_;
  std::vector<std::unique_ptr<followed>> networks_;
  std::unique_ptr<activation_record> layers_;
  std::size_t events_ = 0;
  std::int64_t updates_of_step_ = 0;
  std::int64_t changing_steps_ = 0;
  bool changed_ = false;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/verified_loop.inl.hpp>
#endif
