#pragma once

#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>

#include <cstdint>
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

}  // namespace redco

namespace redco::run {

class step_executor;

/// The micro-batches of a step on one rank, which a step asks for one after the other.
class step_work {
 public:
  step_work() = default;
  step_work(step_work const&) = delete;
  step_work& operator=(step_work const&) = delete;
  virtual ~step_work() = default;

  /// Returns the loss of the next micro-batch, not yet differentiated.
  virtual terms loss(comm::replica_round const& round) = 0;

  /// Computes forward and backward of the next micro-batch in one: adds its losses to the step.
  virtual void compute(step_executor& step, comm::replica_round const& round) = 0;
};

/// Which step of a run it is, counted from 0: the schedule of the learning rate asks for it.
struct step_place {
  std::int64_t step = 0;
  std::int64_t run_steps = 0;
  bool stop = false;  ///< this rank asks for an orderly end after the step
};

}  // namespace redco::run
