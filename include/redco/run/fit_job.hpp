#pragma once

#include <redco/run/batch_order.hpp>
#include <redco/run/computed_batches.hpp>
#include <redco/run/shown.hpp>
#include <redco/options/fit_options.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace redco::run {

/// An interface to a fit on one rank: the operations that need the types of the program's examples
/// and functions. Training code that is compiled once for all programs calls this interface;
/// `pipeline_job` implements it.
class fit_job {
 public:
  fit_job() = default;
  fit_job(fit_job const&) = delete;
  fit_job& operator=(fit_job const&) = delete;
  virtual ~fit_job() = default;

  /// Returns true if the pipeline's loss is `terms`, which may have several terms, each with its
  /// own count.
  virtual bool several_terms() const = 0;
  /// Returns the unit of the reported throughput, such as "tokens", derived from the type of the
  /// batch.
  virtual std::string unit() const = 0;

  /// Starts an epoch and returns its number of examples; training() then returns the batches of
  /// this epoch.
  virtual std::int64_t begin_epoch(std::int64_t epoch) = 0;
  /// Returns the digest of the epoch's first and last example if the user's function
  /// `train_of_epoch` made the examples; else an empty text.
  virtual std::string digest_of_epoch() const = 0;
  /// Returns this rank's micro-batches of the current epoch's training examples.
  virtual std::unique_ptr<computed_batches> training(batch_order const& how) = 0;
  /// Returns this rank's micro-batches of the evaluation examples.
  virtual std::unique_ptr<computed_batches> evaluation(batch_order const& how) = 0;

  /// Makes a table with room for the predictions of this many examples, which all ranks of the
  /// process then fill. Called by one rank of each process.
  virtual void begin_predictions(std::int64_t examples) = 0;
  /// Calls the user's function `metrics` on the predictions and returns its result. Called by rank
  /// 0 only.
  virtual options::metric_map metrics() const = 0;
  /// Returns the evaluation examples with their predictions as JSON, for outputs_epoch<i>.json.
  /// Called by rank 0 only.
  virtual shown outputs() const = 0;
};

}  // namespace redco::run
