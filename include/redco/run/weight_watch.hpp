#pragma once

#include <redco/run/step_work.hpp>
#include <redco/log/run_log.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace redco::run {

/// A source of warnings about updates and loss terms in which no token or example counted, as when
/// all labels are masked. Warns at the first, 10th, 100th ... occurrence of each kind. Used by rank
/// 0.
class weight_watch {
 public:
  explicit weight_watch(log::run_log& log) : log_(log) {}

  /// Logs a warning if the loss of the update `done` had a count of 0, for example because all
  /// labels are masked. `step` is the number of the step, from 1. `network` is the name of a
  /// worker's network, or empty in a fit.
  void after_update(step_result const& done, std::int64_t step, std::string const& network = {}) {
    auto const at = [&] {
      return "step " + std::to_string(step) + (network.empty() ? "" : ", network \"" + network + "\"");
    };
    if (done.weight == 0)
      return warn(network, at() + ": nothing counted in the loss (its weight is 0), so no parameter was updated");
    for (auto const& [term, value] : done.terms)
      if (std::isnan(value))
        warn(network + "." + term, at() + ": nothing counted in the loss term \"" + term + "\" (its weight is 0)");
  }

 private:
  void warn(std::string const& kind, std::string const& text) {
    std::int64_t const times = ++times_[kind];
    std::int64_t told = 1;
    while (told < times) told *= 10;
    if (times != told) return;
    log_.warning(text + (times > 1 ? ", for the " + std::to_string(times) + "th time" : "") +
                 ": are all labels of its examples masked?");
  }

  log::run_log& log_;
  std::map<std::string, std::int64_t> times_;
};

}  // namespace redco::run
