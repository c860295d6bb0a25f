#pragma once

#include <redco/report/answer_text.hpp>
#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/options/mesh_text.hpp>

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
              (answer.change ? "<b>" + escaped(answer.change->what) + "</b> (<code>" + escaped(answer.change->options) +
                                   "</code>), " + bytes_text(answer.change->peak) + " on every rank"
                             : escaped(change_text(r))) +
              ".");
  }
  paragraph("Time of a step: " + escaped(step_time_text(r)) + ".");
  text += "<table class=\"narrow\"><thead><tr><th>model shards</th><th>mesh</th><th class=\"n\">peak of a rank</th>" +
          std::string(r.budget > 0 ? "<th>budget</th>" : "") + "</tr></thead><tbody>\n";
  for (legal_width const& one : answer.widths) {
    bool const fits = one.peak <= r.budget;
    text += std::string(one.mesh == r.run.mesh ? "<tr class=\"this\">" : "<tr>") + "<td>" +
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

}  // namespace redco::report::detail
