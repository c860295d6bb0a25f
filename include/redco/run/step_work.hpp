#pragma once

#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// The result of an optimizer step, equal on all ranks.
struct step_result {
  /// Mean loss over everything that counted in the global batch; NaN if nothing counted.
  double loss = 0;
  /// Number of tokens or examples that counted; if it is 0, nothing was updated.
  double weight = 0;
  double grad_norm = 0;  ///< norm of the mean gradient, before clipping
  double lr = 0;
  /// True if some rank asked for an orderly end.
  bool stop = false;
  /// Mean of each term, if the loss has several terms.
  std::vector<std::pair<std::string, double>> terms;
};

}  // namespace redco

namespace redco::run {

class step_executor;

/// An interface to the micro-batches of a step on one rank; the step asks for one after the other.
class step_work {
 public:
  step_work() = default;
  step_work(step_work const&) = delete;
  step_work& operator=(step_work const&) = delete;
  virtual ~step_work() = default;

  /// Returns the loss of the next micro-batch, before backward.
  virtual terms loss(comm::replica_round const& round) = 0;

  /// Runs forward and backward of the next micro-batch and adds its losses to the step.
  virtual void compute(step_executor& step, comm::replica_round const& round) = 0;
};

/// The position of a step in its run, counted from 0; the learning-rate schedule uses it.
struct step_place {
  std::int64_t step = 0;
  std::int64_t run_steps = 0;
  /// True if this rank asks for an orderly end after the step.
  bool stop = false;
};

}  // namespace redco::run
