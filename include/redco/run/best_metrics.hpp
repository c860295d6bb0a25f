#pragma once

#include <redco/ckpt/manifest.hpp>
#include <redco/run/fit_options.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redco {

/// The best value of each watched metric so far, under the name of its checkpoint: min_<metric>, max_<metric>.
class best_metrics {
 public:
  using table = std::map<std::string, manifest::best_value>;

  best_metrics(std::vector<std::string> argmin, std::vector<std::string> argmax, table known = {})
      : argmin_(std::move(argmin)), argmax_(std::move(argmax)), best_(std::move(known)) {}

  /// Takes an evaluation in and gives the names that it improves. The first watched metric decides patience.
  std::vector<std::string> update(metric_map const& metrics, std::int64_t step) {
    std::vector<std::string> improved;
    bool first_improved = false, first = true;
    auto const look = [&](std::string const& metric, std::string const& name, double sign) {
      auto const found = metrics.find(metric);
      if (found == metrics.end() || !std::isfinite(found->second)) return;
      auto const known = best_.find(name);
      bool const better = known == best_.end() || sign * found->second < sign * known->second.value;
      if (better) best_[name] = {found->second, step}, improved.push_back(name);
      if (first) first_improved = better, first = false;
    };
    for (std::string const& metric : argmin_) look(metric, "min_" + metric, 1);
    for (std::string const& metric : argmax_) look(metric, "max_" + metric, -1);
    stale_ = first_improved ? 0 : stale_ + 1;
    return improved;
  }

  table const& best() const { return best_; }

  /// Evaluations since the first watched metric was best.
  int stale() const { return stale_; }

 private:
  std::vector<std::string> argmin_, argmax_;
  table best_;
  int stale_ = 0;
};

}  // namespace redco
