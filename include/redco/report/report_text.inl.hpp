#pragma once

#include <redco/report/report_text.hpp>

#include <redco/report/answer_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/detail/stages_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_memory.hpp>
#include <redco/options/value_text.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::report {

REDCO_INLINE std::string plan_text(shard::dynamic_plan const& plan) {
  using detail::padded;
  std::size_t name = 9, logical = 7, local = 7, split = 5;
  for (shard::entry const& e : plan.entries) {
    name = std::max(name, e.fact.name.size + detail::copies_text(e).size());
    logical = std::max(logical, detail::extents_text(e.fact.shape).size());
    local = std::max(local, detail::extents_text(e.local()).size());
    split = std::max(split, detail::split_text(e).size());
  }
  std::string text;
  auto const row = [&](std::string const& a, std::string const& b, std::string const& c, std::string const& d,
                       std::string_view e) {
    text += "  " + detail::padded(a, name) + "  " + detail::padded(b, logical) + "  " + detail::padded(c, local) +
            "  " + detail::padded(d, split) + "  " + std::string(e) + "\n";
  };
  row("parameter", "logical", "on rank", "split", "because");
  for (shard::entry const& e : plan.entries)
    row(std::string(e.fact.name.view()) + detail::copies_text(e), detail::extents_text(e.fact.shape),
        detail::extents_text(e.local()), detail::split_text(e), fact::sentence_of(e.fact.why));
  return text;
}

}  // namespace redco::report

namespace redco {

REDCO_INLINE std::string report_text(report::shard_report const& r) {
  using report::detail::padded;
  using report::detail::padded_left;
  std::string text = "plan: " + report::detail::run_text(r) + "\n" + report::plan_text(r.plan);

  cost::memory const& m = r.cost.memory;
  text += report::detail::stages_text(r) + "bytes of one rank" + report::detail::stage_scope(r) + "\n";
  for (report::memory_line const& line : report::memory_lines(m))
    if (line.bytes > 0)
      text += "  " + report::detail::padded(std::string(line.kind), 20) +
              report::detail::padded_left(report::detail::bytes_text(line.bytes), 10) + "\n";
  for (report::memory_line const& line : report::phase_lines(m))
    text += "  " + report::detail::padded("most at " + std::string(line.kind), 20) +
            report::detail::padded_left(report::detail::bytes_text(line.bytes), 10) + "\n";
  text += "  " + report::detail::padded("peak", 20) +
          report::detail::padded_left(report::detail::bytes_text(m.peak()), 10) + report::detail::uncounted_text(r) +
          "\n";

  if (!r.activations.empty())
    text += r.stages.empty() ? "activations by layer\n" : "activations by layer, of one micro-batch\n";
  std::size_t layer = 20;
  for (cost::layer_activations const& one : r.activations)
    layer = std::max(layer, report::detail::layer_text(one).size() + 2);
  for (cost::layer_activations const& one : r.activations)
    text += "  " + report::detail::padded(report::detail::layer_text(one), layer) +
            (one.counted ? report::detail::padded_left(report::detail::bytes_text(one.bytes), 10) : "not counted") +
            "\n";

  text +=
      "operations of one step" + report::detail::stage_scope(r) + "\n  " +
      report::detail::padded("matrix products", 20) +
      report::detail::padded_left(report::detail::operations_text(static_cast<double>(r.cost.operations.total())), 10) +
      ", " + report::detail::operations_text(r.cost.operations.per_token(r.run)) + " for one token" +
      report::detail::uncounted_text(r) + "\n";
  text += "messages of one step" + report::detail::stage_scope(r) + "\n";
  if (r.cost.messages.calls() == 0) text += "  none\n";
  for (cost::message_total const& line : r.cost.messages)
    if (line.calls > 0)
      text += "  " + report::detail::padded(std::string(line.purpose), 26) +
              report::detail::padded(shape::group_name(r.run.mesh, line.over), 7) +
              std::string(name_of(line.collective)) + report::detail::padded_left(std::to_string(line.calls), 6) +
              " x " + report::detail::bytes_text(line.payload_bytes / line.calls) + ", sends " +
              report::detail::bytes_text(line.wire_bytes) +
              (r.run.hosts > 1 ? ", a host " + report::detail::bytes_text(line.host_bytes) + " to others" : "") + "\n";
  return r.answer ? text + report::answer_text(r) : text;
}

}  // namespace redco

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
  std::string text = "# Shard report\n\n" + detail::run_text(r) + "\n" + detail::markdown_answer(r) + "\n## Plan\n\n" +
                     "| parameter | logical | on rank | split | because |\n|---|---|---|---|---|\n";
  for (shard::entry const& e : r.plan.entries)
    text += "| `" + std::string(e.fact.name.view()) + "`" + detail::copies_text(e) + " | " +
            detail::extents_text(e.fact.shape) + " | " + detail::extents_text(e.local()) + " | " +
            detail::split_text(e) + " | " + std::string(fact::sentence_of(e.fact.why)) + " |\n";
  text += detail::markdown_stages(r) + "\n## Bytes of one rank" + detail::stage_scope(r) +
          "\n\n| kind | bytes | |\n|---|---:|---:|\n";
  auto const bytes = [&](std::string const& kind, std::int64_t n) {
    text += "| " + kind + " | " + std::to_string(n) + " | " + detail::bytes_text(n) + " |\n";
  };
  for (memory_line const& line : memory_lines(r.cost.memory))
    if (line.bytes > 0) bytes(std::string(line.kind), line.bytes);
  for (memory_line const& line : phase_lines(r.cost.memory)) bytes("most at " + std::string(line.kind), line.bytes);
  bytes("**peak**", r.cost.memory.peak());
  if (!r.activations.empty()) text += "\n## Activations by layer\n\n| layer | bytes | |\n|---|---:|---:|\n";
  for (cost::layer_activations const& one : r.activations) {
    std::string const name = "`" + detail::layer_text(one) + "`";
    if (one.counted) bytes(name, one.bytes);
    else text += "| " + name + " | | not counted |\n";
  }
  cost::operations const& o = r.cost.operations;
  text += "\nMatrix products of one step: " + detail::operations_text(static_cast<double>(o.total())) +
          " operations, " + detail::operations_text(o.per_token(r.run)) + " for one token" + detail::uncounted_text(r) +
          ".\n";
  bool const several = r.run.hosts > 1;
  text += std::string(
              "\n## Messages of one step\n\n| purpose | group | collective | calls | payload bytes | bytes sent |") +
          (several ? " by a host to others |" : "") + "\n|---|---|---|---:|---:|---:|" + (several ? "---:|" : "") +
          "\n";
  for (cost::message_total const& line : r.cost.messages)
    if (line.calls > 0)
      text += "| " + std::string(line.purpose) + " | " + shape::group_name(r.run.mesh, line.over) + " | " +
              std::string(name_of(line.collective)) + " | " + std::to_string(line.calls) + " | " +
              std::to_string(line.payload_bytes) + " | " + std::to_string(line.wire_bytes) + " |" +
              (several ? " " + std::to_string(line.host_bytes) + " |" : "") + "\n";
  return text;
}

}  // namespace redco::report
