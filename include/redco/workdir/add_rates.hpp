#pragma once

#include <redco/workdir/number_text.hpp>

#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/schedule_of.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace redco::workdir {

/// Adds sample values of the learning rate to a run's settings if the rate is a function, which has
/// no text by which runs could be compared. The samples are the rates at steps 0, 1, 10, 100, ...,
/// halfway, and at the last of `run_steps` steps. Does nothing for other schedules, which
/// settings_of() describes completely.
template <class Optimizer>
void add_rates(std::map<std::string, std::string>& settings, Optimizer const& optimizer, std::int64_t run_steps) {
  if (auto const schedule = optimizer::schedule_of(optimizer);
      schedule && schedule->kind != optimizer::schedule_kind::function)
    return;
  auto const add = [&](std::string const& when, std::int64_t step) {
    settings["optimizer.lr " + when] = number_text(optimizer::learning_rate_at(optimizer, step, run_steps));
  };
  if (run_steps < 1) return;
  add("at step 0", 0);
  for (std::int64_t step = 1; step < run_steps; step *= 10) add("at step " + std::to_string(step), step);
  add("halfway", run_steps / 2);
  add("at the end", run_steps - 1);
}

}  // namespace redco::workdir
