#pragma once

#include <redco/report/report_html.hpp>
#include <redco/report/report_json.hpp>
#include <redco/report/report_markdown.hpp>
#include <redco/report/report_text.hpp>

#include <redco/options/choices.hpp>
#include <redco/json/dump.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco {

/// The forms of a report; a form's name is the extension of its files.
enum class report_format : std::uint8_t { txt, md, json, html };

constexpr std::string_view name_of(report_format format) {
  constexpr std::string_view names[] = {"txt", "md", "json", "html"};
  return names[static_cast<std::size_t>(format)];
}

template <>
inline constexpr std::array<report_format, 4> options::choices<report_format> = {
    report_format::txt, report_format::md, report_format::json, report_format::html};

/// The report in one of its forms; HTML has the title.
inline std::string report_as(report_format format, shard_report const& r, std::string const& title) {
  switch (format) {
    case report_format::txt: return report_text(r);
    case report_format::md: return report_markdown(r);
    case report_format::json: return dump_json(report_json(r), 1) + "\n";
    case report_format::html: return report_html(r, title);
  }
  return {};
}

}  // namespace redco
