#pragma once

#include <redco/report/report_format.hpp>

#include <redco/report/report_html.hpp>
#include <redco/report/report_json.hpp>
#include <redco/report/report_markdown.hpp>
#include <redco/report/report_text.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

namespace redco::report {

REDCO_INLINE std::string report_as(report_format format, shard_report const& r, std::string const& title) {
  switch (format) {
    case report_format::txt: return report_text(r);
    case report_format::md: return report_markdown(r);
    case report_format::json: return json::dump_json(report_json(r), 1) + "\n";
    case report_format::html: return report_html(r, title);
  }
  return {};
}

}  // namespace redco::report
