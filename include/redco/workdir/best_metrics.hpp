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

/// The best value of each watched metric so far, under the name of its checkpoint: min_<metric>, max_<metric>.
class best_metrics {
 public:
  using table = std::map<std::string, manifest::best_value>;

  /// `known` and `patience` are those of a checkpoint. Evaluations without improvement count on
  /// where the first watched metric is still the one that decided there, and its best checkpoint is
  /// known.
  best_metrics(std::vector<std::string> argmin, std::vector<std::string> argmax, table known = {},
               manifest::patience_facts const& patience = {})
      : argmin_(std::move(argmin)), argmax_(std::move(argmax)), best_(std::move(known)) {
    if (patience.metric == first() && best_.contains(first())) stale_ = patience.stale;
  }

  /// Errors: exit code 64 when a watched metric is not among those of an evaluation or cannot name a checkpoint.
  void check(metric_map const& metrics) const;

  /// Takes an evaluation in and gives the names that it improves; what is not finite improves nothing. The first
  /// watched metric decides patience.
  std::vector<std::string> update(metric_map const& metrics, std::int64_t step);

  /// Goes back to the best that are saved, after a failed save.
  void restore(table const& saved) { best_ = saved; }

  table const& best() const { return best_; }

  /// The checkpoint of the first watched metric; empty when none is watched.
  std::string first() const {
    return !argmin_.empty() ? "min_" + argmin_.front() : !argmax_.empty() ? "max_" + argmax_.front() : "";
  }

  /// The best values of one side, "min" or "max", by metric.
  json::json_value values(std::string const& side) const;

  /// Evaluations since the first watched metric was best.
  std::int64_t stale() const { return stale_; }

  /// The state of early stopping that a checkpoint keeps.
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
