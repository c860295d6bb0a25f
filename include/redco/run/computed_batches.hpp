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
/// pipeline's functions on them. Training code that is compiled once for all programs calls this
/// interface. `pipeline_batches` implements it for one program's types of examples, batches,
/// network and predictions.
class computed_batches {
 public:
  computed_batches() = default;
  computed_batches(computed_batches const&) = delete;
  computed_batches& operator=(computed_batches const&) = delete;
  virtual ~computed_batches() = default;

  /// Collates the next micro-batch and returns its step and its examples' indices; null after the
  /// last one. The pointer is valid until the next call.
  virtual data::micro_batch const* next() = 0;

  /// Calls `f` for each tensor of the current micro-batch. `f` may assign another tensor with equal
  /// values, such as a copy at a fixed address.
  virtual void each_tensor(tensors::function_ref<void(at::Tensor&)> f) = 0;

  /// Runs forward and the user's loss function on the current micro-batch and returns the loss.
  /// Does not run backward.
  virtual terms loss(pass const& in) = 0;
  /// Returns true if the user's function `train_step` replaces loss and backward of each
  /// micro-batch.
  virtual bool own_step() const = 0;
  /// Calls the user's function `train_step` on the current micro-batch. Requires that own_step() is
  /// true.
  virtual void take_step(training_step& step, pass const& in) = 0;
  /// Calls the pipeline's predict on the current micro-batch and stores one result per example in a
  /// table by example index.
  virtual void predict(pass const& in) = 0;

  /// Returns this rank's predictions as bytes, to be sent to other processes. Throws `error` with
  /// exit code 70 if cereal cannot serialize the type of the predictions.
  virtual std::string predicted() const = 0;
  /// Stores predictions that a rank of another process has computed. `bytes`: result of that rank's
  /// predicted().
  virtual void take_predicted(std::string const& bytes) = 0;
};

}  // namespace redco::run
