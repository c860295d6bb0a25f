#pragma once

#include <redco/report/report_markdown.hpp>

#include <redco/report/answer_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/memory_lines.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/shape/group_name.hpp>
#include <redco/config.hpp>

#include <cstdint>

namespace redco::report::detail {

/// Returns the answer of a report (model shards, smallest change, step time) as a Markdown section,
/// or an empty text for a report without an answer.
inline std::string markdown_answer(shard_report const& r) {
  if (!r.answer) return "";
  std::string text = "\n## What fits\n\n";
  if (r.budget > 0) text += "- " + fit_text(r) + "\n";
  if (!r.fits()) text += "- largest: " + largest_text(r) + "\n- smallest change that fits: " + change_text(r) + "\n";
  text += "- time of a step: " + step_time_text(r) + "\n\n| model shards" + widths_scope(r.answer->asked) +
          " | mesh | bytes of a rank at most | |" + (r.budget > 0 ? " budget |" : "") + "\n|---:|---|---:|---:|" +
          (r.budget > 0 ? "---|" : "") + "\n";
  for (legal_width const& one : r.answer->widths)
    text += "| " + std::to_string(one.mesh.tp) + " | " + options::to_text(one.mesh) + " | " + std::to_string(one.peak) +
            " | " + bytes_text(one.peak) + " |" +
            (r.budget == 0          ? ""
             : one.peak <= r.budget ? " fits |"
                                    : " does not fit |") +
            "\n";
  return text;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string report_markdown(shard_report const& r) {
  std::string text = "# Shard report\n\n" + report::detail::run_text(r) + "\n" + report::detail::markdown_answer(r) +
                     "\n## Plan\n\n" + "| parameter | logical | on rank | split | because |\n|---|---|---|---|---|\n";
  for (shard::entry const& e : r.plan.entries)
    text += "| `" + std::string(e.fact.name.view()) + "`" + report::detail::copies_text(e) + " | " +
            report::detail::extents_text(e.fact.shape) + " | " + report::detail::extents_text(e.local()) + " | " +
            report::detail::split_text(e) + " | " + std::string(fact::sentence_of(e.fact.why)) + " |\n";
  text += "\n## Bytes of one rank\n\n| kind | bytes | |\n|---|---:|---:|\n";
  auto const bytes = [&](std::string const& kind, std::int64_t n) {
    text += "| " + kind + " | " + std::to_string(n) + " | " + report::detail::bytes_text(n) + " |\n";
  };
  for (report::memory_line const& line : report::memory_lines(r.cost.memory))
    if (line.bytes > 0) bytes(std::string(line.kind), line.bytes);
  for (report::memory_line const& line : report::phase_lines(r.cost.memory))
    bytes("most at " + std::string(line.kind), line.bytes);
  bytes("**peak**", r.cost.memory.peak());
  if (!r.activations.empty()) text += "\n## Activations by layer\n\n| layer | bytes | |\n|---|---:|---:|\n";
  for (cost::layer_activations const& one : r.activations) {
    std::string const name = "`" + report::detail::layer_text(one) + "`";
    if (one.counted) bytes(name, one.bytes);
    else text += "| " + name + " | | not counted |\n";
  }
  cost::operations const& o = r.cost.operations;
  text += "\nMatrix products of one step: " + report::detail::operations_text(static_cast<double>(o.total())) +
          " operations, " + report::detail::operations_text(o.per_token(r.run)) + " for one token" +
          report::detail::uncounted_text(r) + ".\n";
  bool const several = r.run.hosts > 1;
  text += std::string(
              "\n## Messages of one step\n\n| purpose | group | collective | calls | payload bytes | bytes sent |") +
          (several ? " by a host to others |" : "") + "\n|---|---|---|---:|---:|---:|" + (several ? "---:|" : "") +
          "\n";
  for (cost::message_total const& line : r.cost.messages)
    if (line.calls > 0)
      text += "| " + std::string(line.purpose) + " | " + shape::group_name(r.run.mesh, line.over) + " | " +
              std::string(name_of(line.what)) + " | " + std::to_string(line.calls) + " | " +
              std::to_string(line.payload_bytes) + " | " + std::to_string(line.wire_bytes) + " |" +
              (several ? " " + std::to_string(line.host_bytes) + " |" : "") + "\n";
  return text;
}

}  // namespace redco::report
