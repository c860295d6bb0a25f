#pragma once

#include <redco/shard/plan.hpp>

#include <string>

namespace redco::report {

struct shard_report;

/// Returns a plan (the split of every parameter) as a text table. Each line has a parameter's name,
/// shape, shape on a rank, split dimension, and reason.
std::string plan_text(shard::dynamic_plan const& plan);

}  // namespace redco::report

namespace redco {

/// Returns the report `r` as text for a console: every parameter's split with its reason, bytes of
/// one rank by kind, and messages of a step.
std::string report_text(report::shard_report const& r);

}  // namespace redco

namespace redco::report {

/// Returns the report as a Markdown page.
std::string report_markdown(shard_report const& r);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_text.inl.hpp>
#endif
