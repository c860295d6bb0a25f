#pragma once

#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// The result of an optimizer step, equal on all ranks.
struct step_result {
  /// Mean loss over the counted tokens or examples of the global batch; NaN if none counted. With
  /// several terms, the sum of each term's mean times its factor.
  double loss = 0;
  /// Number of tokens or examples that counted in the loss; if 0, no parameter was updated.
  double weight = 0;
  double grad_norm = 0;  ///< norm of the mean gradient before clipping
  double lr = 0;
  /// True if at least one rank asked to end the run in order, for example after a signal.
  bool stop = false;
  /// Name and mean of each term of the loss; empty if the loss has one term.
  std::vector<std::pair<std::string, double>> terms;
};

}  // namespace redco::run

namespace redco::run {

class step_executor;

/// An interface to the micro-batches of a step on one rank. The step calls its members once for
/// each micro-batch, in order.
class step_work {
 public:
  step_work() = default;
  step_work(step_work const&) = delete;
  step_work& operator=(step_work const&) = delete;
  virtual ~step_work() = default;

  /// Runs forward of the next micro-batch and returns the loss. Does not run backward.
  virtual terms loss(comm::replica_round const& round) = 0;

  /// Runs forward and backward of the next micro-batch and adds its loss and gradients to the step.
  virtual void compute(step_executor& step, comm::replica_round const& round) = 0;
};

/// The index of a step in its run, counted from 0, and the number of steps of the run. The
/// learning-rate schedule uses both.
struct step_place {
  std::int64_t step = 0;
  std::int64_t run_steps = 0;
  /// True if this rank asks all ranks to end the run after this step, for example after a signal.
  bool stop = false;
};

}  // namespace redco::run
