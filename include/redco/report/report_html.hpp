#pragma once

#include <string>

namespace redco {

struct shard_report;

/// The report as one HTML page that needs nothing else: drawings are inline SVG. It reads on a phone, in the dark, on paper
/// and without JavaScript, which only sorts the table of parameters. `title` may hold any text.
std::string report_html(shard_report const& r, std::string const& title = "Shard report");

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/report/report_html.inl.hpp>
#endif
