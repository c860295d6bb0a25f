#pragma once

#include <redco/report/report_text.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/memory_lines.hpp>
#include <redco/report/plan_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/shape/group_name.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco {

REDCO_INLINE std::string report_text(shard_report const& r) {
  using detail::padded;
  using detail::padded_left;
  std::string text = "plan: " + detail::run_text(r) + "\n" + plan_text(r.plan);

  memory const& m = r.cost.memory;
  text += "bytes of one rank\n";
  for (memory_line const& line : memory_lines(m))
    if (line.bytes > 0)
      text += "  " + padded(std::string(line.kind), 20) + padded_left(detail::bytes_text(line.bytes), 10) + "\n";
  for (memory_line const& line : phase_lines(m))
    text +=
        "  " + padded("most at " + std::string(line.kind), 20) + padded_left(detail::bytes_text(line.bytes), 10) + "\n";
  text += "  " + padded("peak", 20) + padded_left(detail::bytes_text(m.peak()), 10) + detail::uncounted_text(r) + "\n";

  if (!r.activations.empty()) text += "activations by layer\n";
  std::size_t layer = 20;
  for (layer_activations const& one : r.activations) layer = std::max(layer, detail::layer_text(one).size() + 2);
  for (layer_activations const& one : r.activations)
    text += "  " + padded(detail::layer_text(one), layer) +
            (one.counted ? padded_left(detail::bytes_text(one.bytes), 10) : "not counted") + "\n";

  text += "operations of one step\n  " + padded("matrix products", 20) +
          padded_left(detail::operations_text(static_cast<double>(r.cost.operations.total())), 10) + ", " +
          detail::operations_text(r.cost.operations.per_token(r.run)) + " for one token" + detail::uncounted_text(r) +
          "\n";
  text += "messages of one step\n";
  if (r.cost.messages.calls() == 0) text += "  none\n";
  for (message_total const& line : r.cost.messages)
    if (line.calls > 0)
      text += "  " + padded(std::string(line.purpose), 26) + padded(group_name(r.run.mesh, line.over), 7) +
              std::string(name_of(line.what)) + padded_left(std::to_string(line.calls), 6) + " x " +
              detail::bytes_text(line.payload_bytes / line.calls) + ", sends " + detail::bytes_text(line.wire_bytes) +
              "\n";
  return text;
}

}  // namespace redco
