#pragma once

#include <redco/report/search_text.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/options/value_text.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::report::detail {

/// Returns the command-line options to run the plan `best`. Appends a note if the plan needs the
/// model wrapped as redco::models::sequence_parallel.
inline std::string flags_text(cost::found_plan const& best, cost::search_space const& space) {
  cost::setup const& run = best.run;
  return "--mesh " + options::to_text(run.mesh) + " --dtype " + std::string(name_of(run.compute)) +
         (run.recompute.any() ? " --recompute " + options::to_text(run.recompute) : "") + " --global-batch " +
         std::to_string(space.load.batch) + " --micro-batch " + std::to_string(run.load.batch) +
         (best.sequence_parallel ? ", of the model as redco::models::sequence_parallel" : "");
}

inline std::string row_text(std::string const& mesh, std::string const& micro_batch, std::string const& compute,
                            std::string const& recompute, std::string const& tokens, std::string const& peak,
                            std::string const& time) {
  return padded(mesh, 10) + padded_left(micro_batch, 11) + "  " + padded(compute, 6) + padded(recompute, 11) +
         padded(tokens, 6) + padded_left(peak, 11) + padded_left(time, 11) + "\n";
}

inline std::string row_text(cost::found_plan const& p) {
  return row_text(options::to_text(p.run.mesh), std::to_string(p.run.load.batch), std::string(name_of(p.run.compute)),
                  options::to_text(p.run.recompute), p.sequence_parallel ? "split" : "all", bytes_text(p.peak),
                  seconds_text(p.time.total()));
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string search_text(cost::search_result const& found, cost::search_space const& space,
                                     std::size_t most) {
  std::string const head = detail::row_text("mesh", "micro-batch", "dtype", "recompute", "tokens", "peak", "step time");
  std::string const run = std::to_string(space.ranks) + (space.ranks == 1 ? " rank" : " ranks") +
                          detail::hosts_text(space.hosts) + ", " + detail::examples_text(space.load) + " a step";
  if (found.plans.empty())
    return "no plan fits " + detail::bytes_text(space.budget) + " on every rank (" + run + "); the smallest peak is\n" +
           head + detail::row_text(found.smallest) + "take more ranks, a shorter sequence or more memory\n";
  std::string text = run + ": " + std::to_string(found.plans.size()) + " plans" +
                     (space.budget > 0 ? " fit " + detail::bytes_text(space.budget) + " on every rank" : "") +
                     "; step times are predicted\n" + head;
  for (std::size_t i = 0; i < std::min(most, found.plans.size()); ++i) text += detail::row_text(found.plans[i]);
  return text + "run: " + detail::flags_text(found.plans.front(), space) + "\n";
}

}  // namespace redco::report
