#pragma once

#include <redco/report/answer_text.hpp>
#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_memory.hpp>
#include <redco/options/value_text.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace redco::report::detail {

/// Returns the first section of the HTML report: memory budget, smallest change that fits, step
/// time, and a table of possible numbers of model shards. Returns an empty text for a report
/// without an answer.
inline std::string html_answer(shard_report const& r) {
  if (!r.answer) return "";
  report_answer const& answer = *r.answer;
  std::string text = "<h2>What fits</h2>\n";
  auto const paragraph = [&](std::string const& inside) { text += "<p>" + inside + "</p>\n"; };
  if (r.budget > 0)
    paragraph("<span class=\"" + std::string(r.fits() ? "good" : "bad") + "\">" + escaped(fit_text(r)) + "</span>.");
  if (!r.fits()) {
    paragraph("Largest: " + escaped(largest_text(r)) + ".");
    paragraph("Smallest change that fits: " +
              (answer.change
                   ? "<b>" + escaped(answer.change->description) + "</b> (<code>" + escaped(answer.change->options) +
                         "</code>), " + bytes_text(answer.change->peak) + " on every rank"
                   : escaped(change_text(r))) +
              ".");
  }
  paragraph("Time of a step: " + escaped(step_time_text(r)) + ".");
  text += "<table class=\"narrow\"><thead><tr><th>model shards</th><th>mesh</th><th class=\"n\">peak of a rank</th>" +
          std::string(r.budget > 0 ? "<th>budget</th>" : "") + "</tr></thead><tbody>\n";
  for (legal_width const& one : answer.widths) {
    bool const fits = one.peak <= r.budget;
    text += std::string(one.mesh == answer.asked.mesh ? "<tr class=\"this\">" : "<tr>") + "<td>" +
            std::to_string(one.mesh.tp) + "</td><td>" + options::to_text(one.mesh) + "</td><td class=\"n\">" +
            bytes_text(one.peak) + "</td>" +
            (r.budget == 0 ? ""
             : fits        ? "<td class=\"good\">fits</td>"
                           : "<td class=\"bad\">does not fit</td>") +
            "</tr>\n";
  }
  return text + "</tbody></table>\n<p class=\"soft\">With the same global batch" + widths_scope(answer.asked) +
         ".</p>\n";
}

/// Returns the section of the HTML report on the memory of one rank: a bar of the kinds of bytes at
/// the peak, and a table of all kinds.
inline std::string html_bytes(shard_report const& r) {
  cost::memory const& m = r.cost.memory;
  step_moment const peak = peak_moment(m);
  auto const total = static_cast<double>(std::max<std::int64_t>(peak.total(), 1));
  double const width = 720, scale = width / std::max(total, static_cast<double>(r.budget));
  std::string bar;
  double x = 0;
  auto const lines = memory_lines(m);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    double const w = static_cast<double>(peak.bytes[k]) * scale;
    if (w > 0) bar += svg_rect(x, 4, w, 32, "k" + std::to_string(k)) + "\n";
    x += w;
  }
  if (r.budget > 0) {
    std::string const at = coordinate(static_cast<double>(r.budget) * scale);
    bar += svg_path("M" + at + " 0V40", "budget") + "\n";
  }
  std::string text = "<h2>Bytes of one rank</h2>\n<p>Most in " + std::string(peak.phase) + ": <b>" +
                     bytes_text(m.peak()) + "</b>" + uncounted_text(r);
  if (r.budget > 0)
    text += r.fits() ? ", <span class=\"good\">within the budget of " + bytes_text(r.budget) + "</span>"
                     : ", <span class=\"bad\">more than the budget of " + bytes_text(r.budget) + "</span>";
  text += ". The bar is that moment; kinds without a share in it belong to other phases.</p>\n";
  text += svg(width, 40, "the peak of one rank by kind", bar);
  text +=
      "<table class=\"narrow\"><thead><tr><th>kind</th><th class=\"n wide\">bytes</th><th class=\"n\"></th><th "
      "class=\"n\">of the "
      "peak</th></tr></thead><tbody>\n";
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].bytes == 0) continue;
    auto const share = static_cast<int>(100 * static_cast<double>(peak.bytes[k]) / total + 0.5);
    text +=
        "<tr><td><svg class=\"key\" viewBox=\"0 0 8 8\" aria-hidden=\"true\"><rect width=\"8\" height=\"8\" class=\"k" +
        std::to_string(k) + "\"/></svg>" + escaped(lines[k].kind) + "</td><td class=\"n wide\">" +
        std::to_string(lines[k].bytes) + "</td><td class=\"n\">" + bytes_text(lines[k].bytes) +
        "</td><td class=\"n\">" + (peak.bytes[k] > 0 ? std::to_string(share) + " %" : "") + "</td></tr>\n";
  }
  text += "</tbody></table>\n";
  if (r.activations.empty()) return text;
  text +=
      "<h3>Activations by layer</h3>\n<table class=\"narrow\"><thead><tr><th>layer</th><th class=\"n wide\">bytes</th>"
      "<th class=\"n\"></th></tr></thead><tbody>\n";
  for (cost::layer_activations const& one : r.activations)
    text += "<tr><td>" + escaped(layer_text(one)) + "</td><td class=\"n wide\">" +
            (one.counted ? std::to_string(one.bytes) : "") + "</td><td class=\"n\">" +
            (one.counted ? bytes_text(one.bytes) : "not counted") + "</td></tr>\n";
  return text + "</tbody></table>\n";
}

/// Returns the HTML report's table of parameters, with their split and its reason. The HTML
/// attribute `data-key` is the key by which the page sorts a cell.
inline std::string html_parameters(shard_report const& r) {
  std::string text =
      "<h2>Parameters</h2>\n<table class=\"plan cards\"><thead><tr><th>parameter</th><th>logical</th><th>on a "
      "rank</th><th>split</th>"
      "<th class=\"n\">bytes</th><th>because</th></tr></thead><tbody>\n";
  std::size_t index = 0;
  for (shard::entry const& e : r.plan.entries) {
    std::int64_t const bytes = e.local().count() * e.fact.copies() * shape::size_of(r.run.compute);
    text += "<tr><td data-key=\"" + std::to_string(index++) + "\"><code>" + escaped(e.fact.name.view()) + "</code>" +
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
    cell("", "collective", escaped(name_of(line.collective)));
    cell(" class=\"n\"", "calls", std::to_string(line.calls));
    cell(" class=\"n\"", "payload", bytes_text(line.payload_bytes / line.calls));
    cell(" class=\"n\"", "sent", bytes_text(line.wire_bytes));
    if (several) cell(" class=\"n\"", "to others", bytes_text(line.host_bytes));
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n<p class=\"soft\">Sent is what one rank sends in a ring of its group.</p>\n";
}

}  // namespace redco::report::detail
