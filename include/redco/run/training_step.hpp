#pragma once

#include <redco/run/network_state.hpp>
#include <redco/run/step.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/loss.hpp>

#include <cstdint>
#include <optional>

namespace redco {

/// The gradient of one optimizer step, micro-batch by micro-batch: what a `train_step` of a fit
/// adds its losses to, and for loops by hand the update that ends it.
///
///   training_step step(network, rank);  for (...) step.add(loss);  auto result = step.finish(...);
class training_step {
 public:
  /// The losses of a step that somebody else executes.
  explicit training_step(run::step_executor& running) : step_(running) {}

  /// A step by hand. `several`: its loss has several terms. `bucket`: see run::step_executor.
  training_step(run::network_state& state, rank_context& rank, bool several = false, std::int64_t bucket = 0)
      : own_(std::in_place, state, rank, schedule::step_facts{.several_terms = several}, bucket), step_(*own_) {}
  training_step(training_step const&) = delete;
  training_step& operator=(training_step const&) = delete;

  /// Adds one micro-batch's loss and its gradients. A loss of several terms takes one micro-batch
  /// per step. Errors: exit code 70 for a loss that no trained parameter has a part in, 64 for
  /// several terms in a step whose pipeline has one.
  void add(terms const& loss) { step_.add(loss); }
  void add(mean const& loss) { add(terms{{{"loss", loss, 1}}}); }

  /// The loss that is added next is the last of this rank in the step: gradients are sent as soon
  /// as its backward has ended them.
  void expect_last() { step_.expect_last(); }

  /// Ends a step by hand: sums gradients over the ranks, clips them, and updates the parameters
  /// with the learning rate of step `step` of `run_steps`. Every rank must call it, even one
  /// without examples. Errors: those of run::step_executor::run.
  step_result finish(std::int64_t step, std::int64_t run_steps, bool stop) {
    return step_.finish({step, run_steps, stop});
  }

 private:
  std::optional<run::step_executor> own_;
  run::step_executor& step_;
};

}  // namespace redco
