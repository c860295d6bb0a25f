#pragma once

#include <redco/run/training_step.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/data/batches.hpp>

#include <string>

namespace redco::run {

/// One rank's micro-batches in order: collated one by one, then computed by the functions of a pipeline. Here the machine, which
/// is the same for all jobs, meets the types of one: of its examples, batches, network and predictions (pipeline_batches).
class computed_batches {
 public:
  computed_batches() = default;
  computed_batches(computed_batches const&) = delete;
  computed_batches& operator=(computed_batches const&) = delete;
  virtual ~computed_batches() = default;

  /// Collates the next one; where it lies, until the next call. Null behind the last.
  virtual micro_batch const* next() = 0;

  /// Its tensors, which may be replaced by others of the same values.
  virtual void each_tensor(function_ref<void(at::Tensor&)> f) = 0;

  /// What can be done with it: its loss, not yet differentiated; a step of the user's own instead, where there is one; its
  /// predictions, into their slots.
  virtual terms loss(pass const& in) = 0;
  virtual bool own_step() const = 0;
  virtual void take_step(training_step& step, pass const& in) = 0;
  virtual void predict(pass const& in) = 0;

  /// For ranks that share no memory: what was predicted here, and slots filled by what was elsewhere. Errors: exit code 70 for
  /// predictions that cereal does not know.
  virtual std::string predicted() const = 0;
  virtual void take_predicted(std::string const& bytes) = 0;
};

}  // namespace redco::run
