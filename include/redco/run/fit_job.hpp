#pragma once

#include <redco/run/batch_order.hpp>
#include <redco/run/computed_batches.hpp>
#include <redco/run/shown.hpp>
#include <redco/options/fit_options.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace redco::run {

/// What the machine asks of a fit on one rank where the types of its job are needed (pipeline_job).
class fit_job {
 public:
  fit_job() = default;
  fit_job(fit_job const&) = delete;
  fit_job& operator=(fit_job const&) = delete;
  virtual ~fit_job() = default;

  /// What the pipeline is: its loss is of several terms; what its batches count per second.
  virtual bool several_terms() const = 0;
  virtual std::string unit() const = 0;

  /// The number of this epoch's examples, of which `training` gives the batches.
  virtual std::int64_t begin_epoch(std::int64_t epoch) = 0;
  /// Digest of the first and the last example of this epoch where each rank asked for its own; else
  /// empty.
  virtual std::string digest_of_epoch() const = 0;
  virtual std::unique_ptr<computed_batches> training(batch_order const& how) = 0;
  virtual std::unique_ptr<computed_batches> evaluation(batch_order const& how) = 0;

  /// Called by rank 0 alone: empty slots for the predictions of so many examples, which all ranks then fill; what the user's
  /// metrics say of them; examples with their predictions, for a file.
  virtual void begin_predictions(std::int64_t examples) = 0;
  virtual metric_map metrics() const = 0;
  virtual shown outputs() const = 0;
};

}  // namespace redco::run
