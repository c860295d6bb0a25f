#pragma once

#include <string>

namespace redco {

struct shard_report;

/// The report for a console: the plan with each parameter's reason, bytes of one rank by kind, messages of a step.
std::string report_text(shard_report const& r);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/report/report_text.inl.hpp>
#endif
