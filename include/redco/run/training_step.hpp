#pragma once

#include <redco/run/network_state.hpp>
#include <redco/run/step.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/loss.hpp>

#include <cstdint>
#include <optional>

namespace redco {

/// The gradient of one optimizer step, added up micro-batch by micro-batch. The `train_step` of a
/// fit receives one; loops by hand make one, and finish() ends it with the update.
///
///   training_step step(network, rank);  for (...) step.add(loss);  auto result = step.finish(...);
class training_step {
 public:
  /// Wraps a step that the caller executes and ends; losses are added to it.
  explicit training_step(run::step_executor& running) : step_(running) {}

  /// Begins a step by hand. `several`: true if the loss has several terms; `bucket`: see
  /// run::step_executor.
  training_step(run::network_state& state, rank_context& rank, bool several = false, std::int64_t bucket = 0)
      : own_(std::in_place, state, rank, schedule::step_facts{.several_terms = several}, bucket), step_(*own_) {}
  training_step(training_step const&) = delete;
  training_step& operator=(training_step const&) = delete;

  /// Adds one micro-batch's loss and its gradients. A loss of several terms allows one micro-batch
  /// per step. Throws `error` with exit code 70 for a loss without trained parameters, 64 for
  /// several terms if the pipeline's loss has one.
  void add(terms const& loss) { step_.add(loss); }
  void add(mean const& loss) { add(terms{{{"loss", loss, 1}}}); }

  /// Declares that the next added loss is this rank's last one in the step: gradients are sent
  /// while its backward runs.
  void expect_last() { step_.expect_last(); }

  /// Ends a step by hand: sums gradients over the ranks, clips them, and updates the parameters
  /// with the learning rate of step `step` of `run_steps`. Every rank must call it, even one
  /// without examples. Throws the errors of run::step_executor::run.
  step_result finish(std::int64_t step, std::int64_t run_steps, bool stop) {
    return step_.finish({step, run_steps, stop});
  }

 private:
  std::optional<run::step_executor> own_;
  run::step_executor& step_;
};

}  // namespace redco
