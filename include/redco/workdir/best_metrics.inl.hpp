#pragma once

#include <redco/workdir/best_metrics.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <cmath>

namespace redco::workdir {

REDCO_INLINE void best_metrics::check(options::metric_map const& metrics) const {
  for (auto const* watched : {&argmin_, &argmax_})
    for (std::string const& name : *watched) {
      if (!safetensors::plain_name("min_" + name))
        throw error(exit_code::usage, "metric '" + name + "' cannot name a checkpoint: use letters, digits, - _ and .");
      if (metrics.contains(name)) continue;
      std::string known;
      for (auto const& [one, value] : metrics) known += (known.empty() ? "" : ", ") + one;
      throw error(exit_code::usage, "the evaluation has no metric '" + name +
                                        "' to keep the best checkpoint of; it has " + known +
                                        ": correct save_argmin and save_argmax");
    }
}

REDCO_INLINE std::vector<std::string> best_metrics::update(options::metric_map const& metrics, std::int64_t step) {
  std::vector<std::string> improved;
  bool first_improved = false, first = true;
  auto const look = [&](std::string const& metric, std::string const& name, double sign) {
    double const value = metrics.at(metric);
    auto const known = best_.find(name);
    bool const better = std::isfinite(value) && (known == best_.end() || sign * value < sign * known->second.value);
    if (better) best_[name] = {value, step}, improved.push_back(name);
    if (std::exchange(first, false)) first_improved = better;
  };
  for (std::string const& metric : argmin_) look(metric, "min_" + metric, 1);
  for (std::string const& metric : argmax_) look(metric, "max_" + metric, -1);
  stale_ = first_improved ? 0 : stale_ + 1;
  return improved;
}

REDCO_INLINE json::json_value best_metrics::values(std::string const& side) const {
  json::json_value all = json::json_value::object();
  for (auto const& [name, best] : best_)
    if (name.starts_with(side + "_")) all[name.substr(side.size() + 1)] = best.value;
  return all;
}

REDCO_INLINE manifest::best_value const& best_values::at(std::string const& name) const {
  if (auto const own = find(name); own != end()) return own->second;
  auto const least = find("min_" + name), most = find("max_" + name);
  if ((least == end()) != (most == end())) return (least == end() ? most : least)->second;
  std::string known;
  for (auto const& [key, value] : *this) known += (known.empty() ? "" : ", ") + key;
  throw error(exit_code::internal, "there is no one best value of \"" + name + "\"; there is " +
                                       (known.empty() ? "none of any metric" : known) +
                                       ": name it in save_argmin or save_argmax, or give one of these names");
}

}  // namespace redco::workdir
