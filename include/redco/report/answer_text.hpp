#pragma once

#include <redco/report/shard_report.hpp>

#include <string>

namespace redco::report {

/// Returns a sentence that says if a run fits its memory budget: "mesh 1x2: fits, 3.10 GiB of 8.00
/// GiB on every rank". If it does not fit, returns the excess in bytes and the phase of the peak.
/// Requires a report with a budget.
std::string fit_text(shard_report const& r);

/// Returns the three largest kinds of bytes at the moment of peak memory: "activations 373 MiB,
/// optimizer state 41.8 MiB, gradients 20.9 MiB".
std::string largest_text(shard_report const& r);

/// Returns the smallest change of a run that fits the memory budget: "2 model shards
/// (--n-model-shards 2), 3.10 GiB on every rank". If no change fits, returns the changes that were
/// tried. Requires a report with an answer.
std::string change_text(shard_report const& r);

/// Returns the predicted time of a step, "12.3 ms, predicted for the measured machine", or the
/// reason why no time is predicted. Requires a report with an answer.
std::string step_time_text(shard_report const& r);

/// Returns all sentences of a report about its memory budget, for a console. Requires a report with
/// a budget and an answer.
inline std::string budget_text(shard_report const& r) {
  if (r.fits()) return fit_text(r);
  return fit_text(r) + "\n  largest: " + largest_text(r) + "\n  smallest change that fits: " + change_text(r);
}

/// Returns the answer of a report as text: a table of peak bytes for each possible number of model
/// shards, and the step time. Sentences about the budget follow if there is one. Requires a report
/// with an answer.
std::string answer_text(shard_report const& r);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/answer_text.inl.hpp>
#endif
