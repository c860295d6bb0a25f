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

/// A record of the best value of each watched metric so far, by checkpoint name: min_<metric> or
/// max_<metric>.
class best_metrics {
 public:
  using table = std::map<std::string, manifest::best_value>;

  /// Creates the record from the best values `known` and the `patience` state of a checkpoint.
  /// Continues the count of evaluations without improvement if that checkpoint has the same first
  /// watched metric and its best value is known. Otherwise the count starts at 0.
  best_metrics(std::vector<std::string> argmin, std::vector<std::string> argmax, table known = {},
               manifest::patience_facts const& patience = {})
      : argmin_(std::move(argmin)), argmax_(std::move(argmax)), best_(std::move(known)) {
    if (patience.metric == first() && best_.contains(first())) stale_ = patience.stale;
  }

  /// Throws `error` with exit code 64 if a watched metric is not in `metrics` or cannot name a
  /// checkpoint.
  void check(metric_map const& metrics) const;

  /// Records an evaluation and returns the names that it improves. Values that are not finite
  /// improve nothing. The first watched metric resets the count for patience.
  std::vector<std::string> update(metric_map const& metrics, std::int64_t step);

  /// Restores the best values of the last successful save. Call after a failed save.
  void restore(table const& saved) { best_ = saved; }

  table const& best() const { return best_; }

  /// Returns the checkpoint name of the first watched metric, or an empty text if no metric is
  /// watched.
  std::string first() const {
    return !argmin_.empty() ? "min_" + argmin_.front() : !argmax_.empty() ? "max_" + argmax_.front() : "";
  }

  /// Returns the best values of one side, "min" or "max", by metric.
  json::json_value values(std::string const& side) const;

  /// Returns the number of evaluations since the first watched metric was best.
  std::int64_t stale() const { return stale_; }

  /// Returns the state of early stopping, which a checkpoint stores.
  manifest::patience_facts patience() const { return {first(), stale_}; }

 private:
  std::vector<std::string> argmin_, argmax_;
  table best_;
  std::int64_t stale_ = 0;
};

}  // namespace redco::workdir

#ifndef REDCO_COMPILED
#include <redco/workdir/best_metrics.inl.hpp>
#endif
