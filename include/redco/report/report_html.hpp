#pragma once

#include <string>

namespace redco::report {

struct shard_report;

/// Returns the report as an HTML page without external files, with inline SVG drawings. The page
/// suits phones, dark screens and print. JavaScript is optional and only sorts the table of
/// parameters. `title` may be any text.
std::string report_html(shard_report const& r, std::string const& title = "Shard report");

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_html.inl.hpp>
#endif
