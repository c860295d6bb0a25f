#pragma once

#include <string>

namespace redco::report {

struct shard_report;

}  // namespace redco::report

namespace redco {

/// Returns the report as text for a console: every parameter's split with its reason, bytes of one
/// rank by kind, and messages of a step.
std::string report_text(report::shard_report const& r);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_text.inl.hpp>
#endif
