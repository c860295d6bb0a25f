#pragma once

#include <redco/ckpt/detail/names.hpp>
#include <redco/ckpt/manifest.hpp>
#include <redco/diag/error.hpp>
#include <redco/json/value.hpp>
#include <redco/run/fit_options.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// The best value of each watched metric so far, under the name of its checkpoint: min_<metric>, max_<metric>.
class best_metrics {
 public:
  using table = std::map<std::string, manifest::best_value>;

  best_metrics(std::vector<std::string> argmin, std::vector<std::string> argmax, table known = {})
      : argmin_(std::move(argmin)), argmax_(std::move(argmax)), best_(std::move(known)) {}

  /// Errors: exit code 64 when a watched metric is not among those of an evaluation or cannot name a checkpoint.
  void check(metric_map const& metrics) const {
    for (auto const* watched : {&argmin_, &argmax_})
      for (std::string const& name : *watched) {
        if (!detail::plain_name("min_" + name))
          throw error(exit_code::usage,
                      "metric '" + name + "' cannot name a checkpoint: use letters, digits, - _ and .");
        if (metrics.contains(name)) continue;
        std::string known;
        for (auto const& [one, value] : metrics) known += (known.empty() ? "" : ", ") + one;
        throw error(exit_code::usage, "the evaluation has no metric '" + name +
                                          "' to keep the best checkpoint of; it has " + known +
                                          ": correct save_argmin and save_argmax");
      }
  }

  /// Takes an evaluation in and gives the names that it improves; what is not finite improves nothing. The first
  /// watched metric decides patience.
  std::vector<std::string> update(metric_map const& metrics, std::int64_t step) {
    std::vector<std::string> improved;
    bool first_improved = false, first = true;
    auto const look = [&](std::string const& metric, std::string const& name, double sign) {
      double const value = metrics.at(metric);
      auto const known = best_.find(name);
      bool const better =
          std::isfinite(value) && (known == best_.end() || sign * value < sign * known->second.value);
      if (better) best_[name] = {value, step}, improved.push_back(name);
      if (std::exchange(first, false)) first_improved = better;
    };
    for (std::string const& metric : argmin_) look(metric, "min_" + metric, 1);
    for (std::string const& metric : argmax_) look(metric, "max_" + metric, -1);
    stale_ = first_improved ? 0 : stale_ + 1;
    return improved;
  }

  /// Goes back to the best that are saved, after a failed save.
  void restore(table const& saved) { best_ = saved; }

  table const& best() const { return best_; }

  /// The best values of one side, "min" or "max", by metric.
  json_value values(std::string const& side) const {
    json_value all = json_value::object();
    for (auto const& [name, best] : best_)
      if (name.starts_with(side + "_")) all[name.substr(side.size() + 1)] = best.value;
    return all;
  }

  /// Evaluations since the first watched metric was best.
  int stale() const { return stale_; }

 private:
  std::vector<std::string> argmin_, argmax_;
  table best_;
  int stale_ = 0;
};

}  // namespace redco
