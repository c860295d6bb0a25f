#pragma once

#include <redco/run/network_state.hpp>
#include <redco/run/step.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/loss.hpp>

#include <cstdint>
#include <optional>

namespace redco::run {

/// An optimizer step whose gradient is added up micro-batch by micro-batch. The user's `train_step`
/// function receives one from fit(). A loop that the user writes makes one, and ends it by
/// finish().
///
///   training_step step(network, rank);  for (...) step.add(loss);  auto result = step.finish(...);
class training_step {
 public:
  /// Refers to a step that the caller ends; add() adds losses to it. `running` must outlive the
  /// object.
  explicit training_step(step_executor& running) : step_(running) {}

  /// Begins a step that finish() ends. `several`: true if the loss has several terms. `bucket`:
  /// bytes of gradients that are summed at once during the last backward; 0 to sum them after
  /// backward. With ZeRO 3, the network can be called from the begin to the end of a step only,
  /// with one recorded call for each loss. Throws the errors of run::step_executor.
  training_step(network_state& state, rank_context& rank, bool several = false, std::int64_t bucket = 0)
      : own_(std::in_place, state, rank, schedule::step_facts{.several_terms = several, .in_one = true}, bucket),
        step_(*own_) {}
  training_step(training_step const&) = delete;
  training_step& operator=(training_step const&) = delete;

  /// Adds one micro-batch's loss to the step and runs its backward. With a loss of several terms, a
  /// step has one micro-batch. Throws `error` with exit code 70 if the loss depends on no trained
  /// parameter. Throws it with 64 for several terms if the step was begun for one term.
  void add(terms const& loss) { step_.add(loss); }
  void add(mean const& loss) { add(terms{{{"loss", loss, 1}}}); }

  /// Declares that the loss added next is this rank's last one in the step. Gradients are then sent
  /// while its backward runs.
  void expect_last() { step_.expect_last(); }

  /// Ends the step: sums gradients over the ranks, clips them, and updates the parameters with the
  /// learning rate of step `step` of `run_steps`. Every rank must call it, even one without
  /// examples. `stop`: true if this rank asks to end the run. Throws the errors of
  /// run::step_executor::run.
  step_result finish(std::int64_t step, std::int64_t run_steps, bool stop) {
    return step_.finish({step, run_steps, stop});
  }

 private:
  std::optional<step_executor> own_;
  step_executor& step_;
};

}  // namespace redco::run
