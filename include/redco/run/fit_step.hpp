#pragma once

#include <redco/run/computed_batches.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/step_graphs.hpp>
#include <redco/run/step_watch.hpp>
#include <redco/run/training_step.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/data/batches.hpp>

#include <cstdint>

namespace redco::run {

/// One optimizer step of a fit on one rank, whoever drives it.
struct fit_step {
  rank_context& rank;
  network_state& network;
  pass in;  ///< of the step; each micro-batch gets its own examples and round
  bool several_terms = false;
  std::int64_t gradient_bucket = 0;  ///< bytes, as training_step takes them
  std::int64_t step = 0, run_steps = 0;
  step_graphs* graphs = nullptr;  ///< null: forward and backward run as they are
  step_watch* watch = nullptr;

  /// Collates and computes this rank's micro-batches in rounds with the other replicas, and updates
  /// the network. All ranks call it. Errors: those of the user's functions with step and function,
  /// and those of training_step.
  step_result run(computed_batches& source, batch_step const& at, bool stop) const;

 private:
  void compute(training_step& update, computed_batches& source, micro_batch const& part,
               comm::replica_round const& round) const;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/fit_step.inl.hpp>
#endif
