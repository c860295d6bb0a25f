#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/memory_lines.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_moments.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace redco::report::detail {

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

}  // namespace redco::report::detail
