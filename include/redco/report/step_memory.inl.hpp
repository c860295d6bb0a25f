#pragma once

#include <redco/report/step_memory.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/cost/memory.hpp>
#include <redco/fact/program.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::report::detail {

/// Returns the name of the layer in which the memory snapshot `m` was computed, with the index of
/// the outermost block: "h.11.ln_1".
inline std::string layer_text(fact::program const& p, cost::moment const& m) {
  if (m.layer < 0) return "";
  std::string name(p.layers[static_cast<std::size_t>(m.layer)].view());
  if (name.empty()) return "(model)";
  std::size_t begin = 0;
  while (m.block >= 0 && begin < name.size()) {
    std::size_t const end = std::min(name.find('.', begin), name.size());
    std::string const part = name.substr(begin, end - begin);
    if (part == "*" || part.find(':') != std::string::npos)
      return name.replace(begin, part.size(), std::to_string(m.block));
    begin = end + 1;
  }
  return name;
}

inline std::string timeline_row(std::vector<std::string> const& cells, std::size_t layer_width) {
  std::string text = padded(cells[0], 10) + padded(cells[1], layer_width);
  for (std::size_t i = 2; i < cells.size(); ++i) text += padded_left(cells[i], 14);
  return text;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string timeline_text(cost::simulation const& of, cost::memory const& throughout) {
  std::vector<cost::moment> const moments = of.moments();
  std::int64_t most = 0;
  std::size_t width = sizeof "layer";
  bool gathers = false;
  for (cost::moment const& m : moments) {
    most = std::max(most, m.bytes());
    gathers = gathers || m.gathered > 0;
    width = std::max(width, detail::layer_text(of.program(), m).size());
  }
  auto const row = [&](std::vector<std::string> cells, std::string const& gathered, std::string const& total) {
    if (gathers) cells.push_back(gathered);
    cells.push_back(total);
    return detail::timeline_row(cells, width);
  };
  std::string text =
      "bytes of one rank, of which " + std::to_string(throughout.persistent()) + " throughout the step\n" +
      row({"phase", "layer", "activations", "recomputed", "gradients", "loss"}, "gathered", "total") + "\n";
  bool marked = false;
  for (cost::moment const& m : moments) {
    bool const peak = !marked && m.bytes() == most;
    marked = marked || peak;
    text += row({std::string(cost::name_of(m.when)), detail::layer_text(of.program(), m), std::to_string(m.activations),
                 std::to_string(m.recomputed), std::to_string(m.gradients), std::to_string(m.loss)},
                std::to_string(m.gathered), std::to_string(throughout.persistent() + m.bytes())) +
            (peak ? "  peak\n" : "\n");
  }
  return text;
}

}  // namespace redco::report
