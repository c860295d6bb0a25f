#pragma once

#include <redco/run/gradient_buckets.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/step_watch.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What a step gave, equal on all ranks.
struct step_result {
  double loss = 0;       ///< mean over everything that counted in the global batch; NaN where nothing did
  double weight = 0;     ///< how much counted: tokens or examples; 0: nothing was updated
  double grad_norm = 0;  ///< of the mean gradient, before clipping
  double lr = 0;
  bool stop = false;                                  ///< some rank asked for an orderly end
  std::vector<std::pair<std::string, double>> terms;  ///< of a loss of several terms
};

/// The gradient of one optimizer step, micro-batch by micro-batch, and the update that ends it.
///
///   training_step step(network, rank);  for (...) step.add(loss);  auto result = step.finish(...);
///
/// Each micro-batch runs backward on its sum; the global count divides the flat gradient inside the optimizer's pass. With
/// `several` terms each is divided by its own global count before backward, which therefore needs all counts beforehand.
class training_step {
 public:
  /// `bucket`: bytes of gradients that are summed over the ranks at once while backward runs, a multiple of 8; 0: behind it.
  training_step(run::network_state& state, rank_context& rank, bool several = false, std::int64_t bucket = 0);

  /// Errors: exit code 64, always.
  [[noreturn]] static void refuse_micro_batches();

  /// Backward of one micro-batch's loss. A loss of several terms takes one micro-batch per step.
  /// Errors: exit code 70 for a loss that no trained parameter has a part in, 64 for several terms
  /// in a step whose pipeline has one.
  void add(terms const& loss) {
    count(loss);
    differentiate(loss);
  }
  void add(mean const& loss) { add(terms{{{"loss", loss, 1}}}); }

  /// The two parts of it, for who repeats a recorded backward: what the loss adds to the totals, and its gradient.
  void count(terms const& loss) {
    if (watch_ != nullptr) watch_->computed(loss);
    totals_.add(loss);
  }
  void differentiate(terms const& loss);

  /// The loss that is added next is the last of this rank in the step: gradients are sent as soon as its backward has ended them.
  void expect_last() { last_ = true; }

  /// The round of micro-batches that is added next.
  void meet(comm::replica_round const& round) { round_ = round; }

  /// Sees the step from inside; null: nobody does.
  void watch(run::step_watch* watch) { watch_ = watch; }

  /// What a rank without examples in this step calls instead, unless it sits a round out.
  void add_nothing();

  /// Ends the step: sums gradients over the data-parallel ranks, clips them, and updates the
  /// parameters with the learning rate of step `step` of `run_steps`. Every rank must call it, even
  /// one without examples. Where nothing counted on any rank, no parameter and no moment of the
  /// optimizer changes. Errors: exit code 79 when the loss or the gradient is not finite, 64 when
  /// the learning rate is none; nothing is updated then.
  step_result finish(std::int64_t step, std::int64_t run_steps, bool stop);

 private:
  std::vector<double> global_counts(terms const& loss);
  void backward(at::Tensor const& loss);
  void add_several(terms const& loss);
  void check_storage() const;
  void sum_gradients();

  run::network_state& state_;
  rank_context& rank_;
  bool several_;
  run::loss_totals totals_;
  comm::replica_round round_;
  std::optional<run::gradient_buckets> buckets_;
  bool last_ = false;
  run::step_watch* watch_ = nullptr;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/run/training_step.inl.hpp>
#endif
