#pragma once

#include <redco/run/batch_order.hpp>
#include <redco/run/computed_batches.hpp>
#include <redco/run/shown.hpp>
#include <redco/options/fit_options.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace redco::run {

/// An interface to a fit's job on one rank: the operations that need the types of its examples and
/// functions. Training code that is compiled once for all jobs calls this interface; `pipeline_job`
/// implements it.
class fit_job {
 public:
  fit_job() = default;
  fit_job(fit_job const&) = delete;
  fit_job& operator=(fit_job const&) = delete;
  virtual ~fit_job() = default;

  /// Returns true if the pipeline's loss has several terms.
  virtual bool several_terms() const = 0;
  /// Returns the unit that the batches count per second, such as "tokens".
  virtual std::string unit() const = 0;

  /// Starts an epoch and returns its number of examples; `training` then gives the batches of this
  /// epoch.
  virtual std::int64_t begin_epoch(std::int64_t epoch) = 0;
  /// Returns the digest of the epoch's first and last example if the user's `train_of_epoch` made
  /// the examples; else empty.
  virtual std::string digest_of_epoch() const = 0;
  /// Returns this rank's micro-batches of the current epoch's training examples.
  virtual std::unique_ptr<computed_batches> training(batch_order const& how) = 0;
  /// Returns this rank's micro-batches of the evaluation examples.
  virtual std::unique_ptr<computed_batches> evaluation(batch_order const& how) = 0;

  /// Makes empty slots for the predictions of this many examples; all ranks then fill the slots.
  /// Called by one rank of each process.
  virtual void begin_predictions(std::int64_t examples) = 0;
  /// Returns the result of the user's `metrics` on the predictions. Called by rank 0 alone.
  virtual metric_map metrics() const = 0;
  /// Returns examples with their predictions for an outputs file. Called by rank 0 alone.
  virtual shown outputs() const = 0;
};

}  // namespace redco::run
