#pragma once

#include <redco/run/compare_updates.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/update_record.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/rank_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redco {

class deployer;

}  // namespace redco

namespace redco::run {

/// A verification of a loop of the user's own. First one rank runs the loop and its updates are
/// recorded; then all ranks of the mesh run the loop and compare their updates. One object per
/// process.
class verified_loop {
 public:
  /// Prepares to compare the first `steps` steps that change a network.
  verified_loop(deployer& where, std::int64_t steps) : where_(where), wanted_(steps) {}

  /// Ends the recording: later updates come from ranks of the mesh and are compared.
  void compare() { compares_ = true; }

  /// Returns true if the verified function has made a worker.
  bool has_worker() const { return has_worker_; }

  /// Returns the comparison of all updates. Throws `error` with exit code 64 if the loop had no
  /// step.
  verify_result result() const;

 private:
  friend class loop_verifier;

  struct event {
    std::string name;
    update_record record;
  };

  deployer& where_;
  std::int64_t wanted_;
  bool compares_ = false, has_worker_ = false;
  std::vector<event> alone_;  ///< updates of one rank, in the order of the loop
  std::int64_t steps_ = 0;    ///< number of steps of the loop on one rank
  std::vector<compared_update> compared_;
};

/// The part of a worker that takes part in a verification; one per worker. All ranks call its
/// members in the same order.
class loop_verifier {
 public:
  loop_verifier(verified_loop& all, rank_context& rank);

  /// Adds a network; its change in each step is compared, too.
  void add(std::string const& name, network_state const& network);

  /// Begins the loop: later changes are relative to the networks' current values.
  void begin();

  /// Returns the watch that records the next update.
  step_watch& watch() { return of_update_; }

  /// Ends an update of step `step`, counted from 0: records or compares it.
  void end_update(std::string const& network, std::int64_t step, step_result const& result);

  /// Ends step `step`, counted from 0: records or compares the change of each network.
  void end_step(std::int64_t step);

  /// Returns true after enough steps have changed a network, or, on the mesh, after as many steps
  /// as on one rank.
  bool done(std::int64_t steps) const;

 private:
  struct followed {
    std::string name;
    network_state const* network;
    update_recorder changes;
  };

  void take(std::string const& name, update_record record);

  verified_loop& all_;
  rank_context& rank_;
  update_recorder of_update_;
  std::vector<std::unique_ptr<followed>> networks_;
  std::size_t events_ = 0;
  std::int64_t updates_of_step_ = 0;
  std::int64_t changing_steps_ = 0;
  bool changed_ = false;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/verified_loop.inl.hpp>
#endif
