#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/run_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/options/fit_settings.hpp>

#include <cstdint>

namespace redco::run {

/// Saves of a run whose disk may fail for a time. All ranks call attempt() in the same order.
class patient_saves {
 public:
  patient_saves(deployer& where, rank_context& rank) : where_(where), rank_(rank) {}

  /// Calls `save()` and returns true if the checkpoint is saved. If the disk fails (an `error` with
  /// exit code 74 on all ranks), logs a warning and returns false; throws that error after three
  /// failures in a row. If `last` is true, no later save can replace this one: repeats it for as
  /// long as the option --save-patience says, then throws.
  bool attempt(bool last, tensors::function_ref<void()> save);

 private:
  bool waits(std::int64_t attempts, double seconds) const;

  deployer& where_;
  rank_context& rank_;
  int failures_ = 0;
};

/// Returns the largest number of checkpoints that a fit of `length` keeps at once.
std::int64_t kept_checkpoints(options::fit_settings const& settings, options::run_length const& length);

/// Compares the checkpoints that a run will write, of which it keeps `kept`, with the room on the
/// disk. Logs a warning if not all fit. Throws `error` with exit code 74 if not even one fits. Rank
/// 0 calls it before the first step.
void check_room(deployer& where, run_state const& state, std::int64_t kept);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/patient_saves.inl.hpp>
#endif
