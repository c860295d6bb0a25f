#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/shape/group_name.hpp>

#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <string>

namespace redco::report::detail {

/// Returns the HTML report's table of parameters, with their split and its reason. The HTML
/// attribute `data-key` is the key by which the page sorts a cell.
inline std::string html_parameters(shard_report const& r) {
  std::string text =
      "<h2>Parameters</h2>\n<table class=\"plan cards\"><thead><tr><th>parameter</th><th>logical</th><th>on a "
      "rank</th><th>split</th>"
      "<th class=\"n\">bytes</th><th>because</th></tr></thead><tbody>\n";
  std::size_t place = 0;
  for (shard::entry const& e : r.plan.entries) {
    std::int64_t const bytes = e.local().count() * e.fact.copies() * shape::size_of(r.run.compute);
    text += "<tr><td data-key=\"" + std::to_string(place++) + "\"><code>" + escaped(e.fact.name.view()) + "</code>" +
            escaped(copies_text(e)) + "</td><td data-is=\"logical\" data-key=\"" +
            std::to_string(e.fact.shape.count()) + "\">" + extents_text(e.fact.shape) +
            "</td><td data-is=\"on a rank\" data-key=\"" + std::to_string(e.local().count()) + "\">" +
            extents_text(e.local()) + "</td><td data-is=\"split\">" + escaped(split_text(e)) +
            "</td><td class=\"n\" data-is=\"bytes\" data-key=\"" + std::to_string(bytes) + "\">" + bytes_text(bytes) +
            "</td><td class=\"why\">" + escaped(fact::sentence_of(e.fact.why)) + "</td></tr>\n";
  }
  return text + "</tbody></table>\n";
}

/// Returns the HTML report's table of the messages that ranks exchange in a step, one row per
/// purpose.
inline std::string html_messages(shard_report const& r) {
  if (r.cost.messages.calls() == 0) return "<h2>Messages of one step</h2>\n<p>None: one rank talks to nobody.</p>\n";
  bool const several = r.run.hosts > 1;
  std::string text =
      "<h2>Messages of one step</h2>\n<table class=\"cards\"><thead><tr><th>purpose</th><th>group</th><th>collective</th>"
      "<th class=\"n\">calls</th><th class=\"n\">payload of one</th><th class=\"n\">sent</th>" +
      std::string(several ? "<th class=\"n\">by a host to others</th>" : "") + "</tr></thead><tbody>\n";
  auto const cell = [&](char const* style, char const* heading, std::string const& value) {
    text += "<td" + std::string(style) + " data-is=\"" + heading + "\">" + value + "</td>";
  };
  for (cost::message_total const& line : r.cost.messages) {
    if (line.calls == 0) continue;
    text += "<tr><td>" + escaped(line.purpose) + "</td>";
    cell("", "group", escaped(shape::group_name(r.run.mesh, line.over)));
    cell("", "collective", escaped(name_of(line.what)));
    cell(" class=\"n\"", "calls", std::to_string(line.calls));
    cell(" class=\"n\"", "payload", bytes_text(line.payload_bytes / line.calls));
    cell(" class=\"n\"", "sent", bytes_text(line.wire_bytes));
    if (several) cell(" class=\"n\"", "to others", bytes_text(line.host_bytes));
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n<p class=\"soft\">Sent is what one rank sends in a ring of its group.</p>\n";
}

}  // namespace redco::report::detail
