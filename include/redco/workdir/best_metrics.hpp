#pragma once

#include <redco/workdir/manifest.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace redco::workdir {

/// A record of the best value so far of each metric whose best checkpoint is kept. Entries have the
/// checkpoint's name: min_<metric> or max_<metric>.
class best_metrics {
 public:
  using table = std::map<std::string, manifest::best_value>;

  /// Creates the record for metrics to minimise (`argmin`) and to maximise (`argmax`). `known`:
  /// best values in the checkpoint from which the run resumes. `patience`: that checkpoint's count
  /// of evaluations without improvement. The count continues if the first metric is the same and
  /// its best value is known; otherwise it starts at 0.
  best_metrics(std::vector<std::string> argmin, std::vector<std::string> argmax, table known = {},
               manifest::patience_facts const& patience = {})
      : argmin_(std::move(argmin)), argmax_(std::move(argmax)), best_(std::move(known)) {
    if (patience.metric == first() && best_.contains(first())) stale_ = patience.stale;
  }

  /// Throws `error` with exit code 64 if a metric whose best checkpoint is kept is missing in
  /// `metrics`, or if its name cannot be part of a checkpoint's name.
  void check(options::metric_map const& metrics) const;

  /// Records an evaluation and returns the checkpoint names, such as "min_loss", whose metrics
  /// improved. Values that are not finite are no improvement. If the first metric (of `argmin`,
  /// then `argmax`) improves, the count of evaluations without improvement restarts at 0.
  std::vector<std::string> update(options::metric_map const& metrics, std::int64_t step);

  /// Replaces the best values by `saved`, the values at the last successful save. Call it after a
  /// failed save.
  void restore(table const& saved) { best_ = saved; }

  table const& best() const { return best_; }

  /// Returns the checkpoint name, such as "min_loss", of the first metric (of `argmin`, then
  /// `argmax`). Returns an empty text if there is no metric.
  std::string first() const {
    return !argmin_.empty() ? "min_" + argmin_.front() : !argmax_.empty() ? "max_" + argmax_.front() : "";
  }

  /// Returns the best values of metrics that are minimised (`side` is "min") or maximised ("max"),
  /// as a JSON object by metric name.
  json::json_value values(std::string const& side) const;

  /// Returns the number of evaluations since the first metric (of `argmin`, then `argmax`) last
  /// improved.
  std::int64_t stale() const { return stale_; }

  /// Returns the state of early stopping, which checkpoints store: the name of the first metric and
  /// the number of evaluations since it last improved.
  manifest::patience_facts patience() const { return {first(), stale_}; }

 private:
  std::vector<std::string> argmin_, argmax_;
  table best_;
  std::int64_t stale_ = 0;
};

/// A map of the metrics' best values by checkpoint name, such as "min_loss" or "max_accuracy".
class best_values : public std::map<std::string, manifest::best_value> {
 public:
  best_values() = default;
  best_values(std::map<std::string, manifest::best_value> known) : map(std::move(known)) {}

  /// Returns the best value with this name, such as "max_accuracy". The metric's name ("accuracy")
  /// suffices if not both its minimum and its maximum are kept. Throws `error` with exit code 70
  /// and the known names if there is no such value.
  manifest::best_value const& at(std::string const& name) const;
};

}  // namespace redco::workdir

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/workdir/best_metrics.inl.hpp>
#endif
