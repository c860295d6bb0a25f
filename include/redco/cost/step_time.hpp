#pragma once

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <vector>

namespace redco::cost {

/// The predicted seconds of one step, by kind of work.
struct step_time {
  double products = 0;     ///< Seconds of matrix products
  double activations = 0;  ///< Seconds of element-wise work on activations
  /// Seconds of reading weights and accumulating their gradients, summed over all micro-batches
  double weights = 0;
  double tensors = 0;  ///< Seconds of overhead per tensor, such as allocation and dispatch
  double messages = 0;
  double once = 0;    ///< Seconds of messages that a rank sends once per step; part of `messages`
  double update = 0;  ///< Seconds of the optimizer's update
  /// Seconds of messages that overlap with computation, to be subtracted from the sum of the other
  /// members
  double hidden = 0;
  double hidden_once = 0;  ///< Part of `hidden` that belongs to `once`
  double waits = 0;        ///< Seconds in which a pipeline stage waits for other stages

  double total() const { return products + activations + weights + tensors + messages + update + waits - hidden; }
};

/// Returns the predicted time of one step, from the run's cost and the machine's measured speeds.
/// Messages do not overlap with computation, except where setup::gradient_bucket or
/// setup::overlap_shards ask for it. README.md describes the model of time.
///
/// Throws `error` with exit code 65 if no speed was measured for the compute dtype, for messages
/// inside a host, or for links between hosts, where the run needs one.
step_time step_time_of(rank_cost const& cost, setup const& run, machine const& on);

/// The predicted course of a step on pipeline stages.
struct pipeline_time {
  /// Seconds of each stage, without waiting for other stages and without tensors between stages
  std::vector<step_time> stages;
  double pipeline = 0;  ///< Seconds from the first forward to the last backward of all stages
  double idle = 0;      ///< Share of `pipeline` in which stages wait, from 0 to 1
  /// Seconds after the pipeline on the slowest stage: gradient sums, other messages and the update
  double end = 0;

  double total() const { return pipeline + end; }

  /// Returns the time of the stage that waits least. Its total is total().
  step_time slowest() const;
};

/// Seconds of a unit of simulated time
inline constexpr double seconds_per_unit = 1e-9;

/// Returns the simulated course of a step on pipeline stages, up to the last backward, in units of
/// `seconds_per_unit`. `stages` are the costs of the stages from stage_costs(). Throws the errors
/// of step_time_of().
schedule::pipeline_run pipeline_course_of(std::vector<stage_cost> const& stages, setup const& run, machine const& on);

/// Returns the simulated course of a step on pipeline stages whose machine was not measured. The
/// time of a computation is its number of operations, in an arbitrary unit. Tensors between stages
/// arrive at once.
schedule::pipeline_run pipeline_course_of(std::vector<stage_cost> const& stages, setup const& run);

/// Returns the predicted time of a step of a run with several pipeline stages. `stages` are the
/// costs of its stages from stage_costs(). Executes the schedule of the run in simulated time;
/// tensors between stages are in flight while stages compute. Throws the errors of step_time_of().
pipeline_time pipeline_time_of(std::vector<stage_cost> const& stages, setup const& run, machine const& on);

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/step_time.inl.hpp>
#endif
