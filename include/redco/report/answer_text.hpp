#pragma once

#include <redco/report/shard_report.hpp>

#include <string>

namespace redco::report {

/// "mesh 1x2: fits, 3.10 GiB of 8.00 GiB on every rank", or by how much and when the run is too
/// large. Requires a budget.
std::string fit_text(shard_report const& r);

/// "activations 373 MiB, optimizer state 41.8 MiB, gradients 20.9 MiB": the largest parts of the
/// peak.
std::string largest_text(shard_report const& r);

/// "2 model shards (--n-model-shards 2), 3.10 GiB on every rank", or what was tried in vain.
/// Requires an answer.
std::string change_text(shard_report const& r);

/// "12.3 ms, predicted for the measured machine", or why there is no time. Requires an answer.
std::string step_time_text(shard_report const& r);

/// All sentences about the budget, for a console. Requires a budget and an answer.
std::string budget_text(shard_report const& r);

/// The peak for each possible number of model shards as a table, the budget and the time of a step.
/// Requires an answer.
std::string answer_text(shard_report const& r);

}  // namespace redco::report

#ifndef REDCO_COMPILED
#include <redco/report/answer_text.inl.hpp>
#endif
