#pragma once

#include <string>

namespace redco::report {

struct shard_report;

/// Returns the report as a Markdown page.
std::string report_markdown(shard_report const& r);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_markdown.inl.hpp>
#endif
