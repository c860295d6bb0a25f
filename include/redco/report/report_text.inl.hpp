#pragma once

#include <redco/report/report_text.hpp>

#include <redco/report/answer_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/memory_lines.hpp>
#include <redco/report/plan_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/shape/group_name.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>

namespace redco {

REDCO_INLINE std::string report_text(report::shard_report const& r) {
  using report::detail::padded;
  using report::detail::padded_left;
  std::string text = "plan: " + report::detail::run_text(r) + "\n" + report::plan_text(r.plan);

  cost::memory const& m = r.cost.memory;
  text += "bytes of one rank\n";
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

  if (!r.activations.empty()) text += "activations by layer\n";
  std::size_t layer = 20;
  for (cost::layer_activations const& one : r.activations)
    layer = std::max(layer, report::detail::layer_text(one).size() + 2);
  for (cost::layer_activations const& one : r.activations)
    text += "  " + report::detail::padded(report::detail::layer_text(one), layer) +
            (one.counted ? report::detail::padded_left(report::detail::bytes_text(one.bytes), 10) : "not counted") +
            "\n";

  text +=
      "operations of one step\n  " + report::detail::padded("matrix products", 20) +
      report::detail::padded_left(report::detail::operations_text(static_cast<double>(r.cost.operations.total())), 10) +
      ", " + report::detail::operations_text(r.cost.operations.per_token(r.run)) + " for one token" +
      report::detail::uncounted_text(r) + "\n";
  text += "messages of one step\n";
  if (r.cost.messages.calls() == 0) text += "  none\n";
  for (cost::message_total const& line : r.cost.messages)
    if (line.calls > 0)
      text += "  " + report::detail::padded(std::string(line.purpose), 26) +
              report::detail::padded(shape::group_name(r.run.mesh, line.over), 7) + std::string(name_of(line.what)) +
              report::detail::padded_left(std::to_string(line.calls), 6) + " x " +
              report::detail::bytes_text(line.payload_bytes / line.calls) + ", sends " +
              report::detail::bytes_text(line.wire_bytes) +
              (r.run.hosts > 1 ? ", a host " + report::detail::bytes_text(line.host_bytes) + " to others" : "") + "\n";
  return r.answer ? text + report::answer_text(r) : text;
}

}  // namespace redco
