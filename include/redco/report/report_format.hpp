#pragma once

#include <redco/options/choices.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco {

struct shard_report;

/// A file format of a report. The name of a format is the extension of the file.
enum class report_format : std::uint8_t { txt, md, json, html };

constexpr std::string_view name_of(report_format format) {
  constexpr std::string_view names[] = {"txt", "md", "json", "html"};
  return names[static_cast<std::size_t>(format)];
}

template <>
inline constexpr std::array<report_format, 4> options::choices<report_format> = {
    report_format::txt, report_format::md, report_format::json, report_format::html};

/// Returns the report as text in the given format. Only HTML uses `title`.
std::string report_as(report_format format, shard_report const& r, std::string const& title);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_format.inl.hpp>
#endif
