#pragma once

#include <redco/run/training_step.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/data/batches.hpp>

#include <string>

namespace redco::run {

/// An interface to the micro-batches of one rank: collates them one by one, and calls the
/// pipeline's functions on them. Training code that is compiled once for all jobs calls this
/// interface. `pipeline_batches` implements it for the types of one job: examples, batches, network
/// and predictions.
class computed_batches {
 public:
  computed_batches() = default;
  computed_batches(computed_batches const&) = delete;
  computed_batches& operator=(computed_batches const&) = delete;
  virtual ~computed_batches() = default;

  /// Collates the next micro-batch and returns its position; null after the last one. The pointer
  /// is valid until the next call.
  virtual micro_batch const* next() = 0;

  /// Calls `f` for each tensor of the current micro-batch; `f` may replace a tensor by another one
  /// with equal values.
  virtual void each_tensor(function_ref<void(at::Tensor&)> f) = 0;

  /// Returns the loss of the current micro-batch, before backward.
  virtual terms loss(pass const& in) = 0;
  /// Returns true if the user's `train_step` replaces loss and backward.
  virtual bool own_step() const = 0;
  /// Calls the user's `train_step` on the current micro-batch. Requires own_step().
  virtual void take_step(training_step& step, pass const& in) = 0;
  /// Predicts the current micro-batch and stores the results in the slots of its examples.
  virtual void predict(pass const& in) = 0;

  /// Returns this rank's predictions as bytes for ranks in other processes. Throws `error` with
  /// exit code 70 if cereal cannot serialize the type of the predictions.
  virtual std::string predicted() const = 0;
  /// Fills slots with predictions that another process returned from predicted().
  virtual void take_predicted(std::string const& bytes) = 0;
};

}  // namespace redco::run
