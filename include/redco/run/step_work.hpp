#pragma once

#include <redco/run/network_state.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/schedule/step_of.hpp>

#include <cstdint>
#include <exception>
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
  double tokens = 0;     ///< number of token ids of the global batch that are not padding
  double grad_norm = 0;  ///< norm of the mean gradient before clipping
  double lr = 0;
  /// True if at least one rank asked to end the run in order, for example after a signal.
  bool stop = false;
  /// Name and mean of each term of the loss; empty if the loss has one term.
  std::vector<std::pair<std::string, double>> terms;
};

class step_executor;

/// An interface to the micro-batches of a step on one rank. The step calls its members once for
/// each micro-batch, in order. A pipeline stage with several chunks of blocks calls loss() again
/// for each chunk.
class step_work {
 public:
  step_work() = default;
  step_work(step_work const&) = delete;
  step_work& operator=(step_work const&) = delete;
  virtual ~step_work() = default;

  /// Runs forward of the micro-batch with index `micro` in the step and returns the loss. Does not
  /// run backward. `stage`: this rank's pipeline stage; null if the rank runs the whole network.
  virtual terms loss(std::int32_t micro, comm::replica_round const& round, nn::stage_link* stage) = 0;

  /// Returns the pass of a micro-batch without examples, with the settings of the others. A pass
  /// without rank, the default, means a training pass with default settings.
  virtual pass pass_without_examples() const { return {}; }

  /// Returns the number of token ids, without padding, of the micro-batches that this rank has
  /// computed in the step; 0 if the work does not count them.
  virtual std::int64_t tokens() const { return 0; }

  /// Runs forward and backward of the next micro-batch and adds its loss and gradients to the step.
  virtual void compute(step_executor& step, comm::replica_round const& round) = 0;
};

/// The index of a step in its run, counted from 0, and the number of steps of the run. The
/// learning-rate schedule uses both.
struct step_position {
  std::int64_t step = 0;
  std::int64_t run_steps = 0;
  /// True if this rank asks all ranks to end the run after this step, for example after a signal.
  bool stop = false;
};

/// An observer of one training step: its losses, its gradient before the update, and the network
/// after the update. The observer must outlive the step. The rank's thread calls all members.
class step_watch {
 public:
  step_watch() = default;
  step_watch(step_watch const&) = delete;
  step_watch& operator=(step_watch const&) = delete;
  virtual ~step_watch() = default;

  /// Called with the loss of each micro-batch, before its backward.
  virtual void computed(terms const& loss) = 0;

  /// Called with the flat gradient, summed over the ranks and not yet clipped. The mean gradient is
  /// this sum divided by `divisor`. Not called if no token or example counted in the step.
  virtual void reduced(network_state const& state, double divisor) = 0;

  /// Called with the network after the update, when parameters and optimizer state are ready for
  /// the next step.
  virtual void updated(network_state const& state) = 0;

  /// Called with each operation of the step after its execution.
  virtual void executed(schedule::step_op const&) {}
};

/// Calls a user's function `f`. Rethrows its exceptions as `error`, with the name `function` and
/// the step in the message. The exit code is 70, or the code of an `error` that `f` throws.
template <class F>
decltype(auto) user_call(char const* function, std::int64_t step, F&& f) {
  auto const failure = [&](exit_code code, std::string const& message) {
    return error(code, "step " + std::to_string(step + 1) + ", in " + function + ": " + message);
  };
  diag::in_user_function const here(function, step);
  try {
    return std::forward<F>(f)();
  } catch (nn::stage_ended const&) {
    throw;
  } catch (error const& e) {
    throw failure(e.code(), e.what());
  } catch (std::exception const& e) {
    throw failure(exit_code::internal, tensors::words_of(e));
  } catch (...) {
    throw failure(exit_code::internal, "threw something that is not a std::exception");
  }
}

}  // namespace redco::run
