#pragma once

#include <redco/options/choices.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/meta/enum_texts.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::report {

struct shard_report;

/// Returns the report as JSON. Bytes are per rank, operations per replica. A graph node's inputs
/// are indices in "graph" and its parameters indices in "plan", from 0. "budget_bytes" is null
/// without a budget; a layer's "bytes" is null if the layer is not counted. "run" has "source" only
/// if the encoder's input has its own length. For several hosts, "run" also has "hosts", and
/// messages have "hosts", "inside_bytes" (per rank) and "host_bytes" (of the busiest host).
/// Incompatible changes increase "version".
json::json_value report_json(shard_report const& r);

/// Returns the report as an HTML page without external files, with inline SVG drawings. The page
/// suits phones, dark screens and print. JavaScript is optional and only sorts the table of
/// parameters. `title` may be any text.
std::string report_html(shard_report const& r, std::string const& title = "Shard report");

/// A file format of a report. The name of a format is the extension of the file.
enum class report_format : std::uint8_t { txt, md, json, html };

inline constexpr auto report_format_texts = meta::enum_texts<report_format>({
    {report_format::txt, "txt"},
    {report_format::md, "md"},
    {report_format::json, "json"},
    {report_format::html, "html"},
});

constexpr std::string_view name_of(report_format format) { return report_format_texts.text_of(format); }

}  // namespace redco::report

namespace redco {

template <>
inline constexpr std::array options::choices<report::report_format> = report::report_format_texts.values();

}  // namespace redco

namespace redco::report {

/// Returns the report as text in the given format. Only HTML uses `title`.
std::string report_as(report_format format, shard_report const& r, std::string const& title);

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/report_format.inl.hpp>
#endif
