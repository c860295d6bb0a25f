#pragma once

#include <redco/report/shard_report.hpp>

#include <string>

namespace redco::report {

/// Returns "mesh 1x2: fits, 3.10 GiB of 8.00 GiB on every rank", or the excess in bytes and the
/// phase of the peak if the run does not fit. Requires a budget.
std::string fit_text(shard_report const& r);

/// Returns the three largest kinds of bytes at the peak: "activations 373 MiB, optimizer state 41.8
/// MiB, gradients 20.9 MiB".
std::string largest_text(shard_report const& r);

/// Returns the smallest change that fits: "2 model shards (--n-model-shards 2), 3.10 GiB on every
/// rank". If no change fits, returns the changes that were tried. Requires an answer.
std::string change_text(shard_report const& r);

/// Returns "12.3 ms, predicted for the measured machine", or the reason why no time is predicted.
/// Requires an answer.
std::string step_time_text(shard_report const& r);

/// Returns all sentences about the budget, for a console. Requires a budget and an answer.
std::string budget_text(shard_report const& r);

/// Returns a table of the peak bytes for each possible number of model shards, then the step time
/// and, if there is a budget, the sentences about the budget. Requires an answer.
std::string answer_text(shard_report const& r);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/answer_text.inl.hpp>
#endif
