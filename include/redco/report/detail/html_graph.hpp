#pragma once

#include <redco/report/detail/graph_layout.hpp>
#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/shard_report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::report::detail {

/// Returns an SVG square at (x, y) that shows how model shards split a parameter. The part of one
/// rank is filled.
inline std::string cut_icon(double x, double y, shard::entry const& e) {
  double const size = 12;
  if (!e.is_split(shape::axis::tp)) return svg_rect(x, y, size, size, "all");
  int const parts = std::min(e.mesh.tp / e.sharers(shape::axis::tp), 8);
  double const part = size / parts;
  bool const rows = e.fact.on(shape::axis::tp).dim == 0;
  std::string text = rows ? svg_rect(x, y, size, part, "mine") : svg_rect(x, y, part, size, "mine");
  for (int i = 1; i < parts; ++i)
    text += rows ? svg_path("M" + coordinate(x) + " " + coordinate(y + part * i) + "h" + coordinate(size), "other")
                 : svg_path("M" + coordinate(x + part * i) + " " + coordinate(y) + "v" + coordinate(size), "other");
  return text + svg_rect(x, y, size, size, "other");
}

/// Returns the name of repeated blocks for the drawing of a model: "h" for "h.*" (all blocks), and
/// "h 0::2" for "h.0::2" (every second block).
inline std::string blocks_name(std::string_view name) {
  std::size_t const dot = name.rfind('.');
  std::string const row = relative_name(name.substr(0, dot));
  return name.ends_with('*') ? row : row + " " + std::string(name.substr(dot + 1));
}

inline std::string draw_node(shard_report const& r, graph_node const& n, graph_box const& box) {
  double const middle = box.left + box.width / 2;
  if (n.role == graph_node::kind::add)
    return "<circle cx=\"" + coordinate(middle) + "\" cy=\"" + coordinate(box.top + box.height / 2) +
           "\" r=\"9\" class=\"whole\"/>" + svg_text(middle, box.top + box.height / 2 + 4, "+", "mid strong") + "\n";
  if (n.role == graph_node::kind::block)
    return svg_text(box.left + 8, box.top + 13,
                    blocks_name(n.layer.view()) + ": " + std::to_string(n.copies) + " equal blocks", "strong") +
           "\n";
  std::string text = "<rect x=\"" + coordinate(box.left) + "\" y=\"" + coordinate(box.top) + "\" width=\"" +
                     coordinate(box.width) + "\" height=\"" + coordinate(box.height) + "\" rx=\"5\" class=\"" +
                     (is_collective(n.role) ? "pill"
                      : is_cut(r, n)        ? "cut"
                                            : "whole") +
                     "\"/>\n";
  double y = box.top + 15;
  for (graph_line const& line : lines_of(r, n)) {
    double x = box.left + 10;
    if (line.parameter != nullptr) text += cut_icon(x, y - 10, *line.parameter) + "\n", x += 18;
    if (line.centred) text += svg_text(middle, y, line.text, line.style + " mid") + "\n";
    else text += svg_text(x, y, line.text, line.style) + "\n";
    y += graph_box::line_height;
  }
  return text;
}

/// Returns the HTML report's drawing of the model: boxes in forward order, split layers in blue,
/// collectives in orange, and residual connections as lines at the left.
inline std::string html_graph(shard_report const& r) {
  if (r.graph.empty()) return "";
  graph_layout const layout(r);
  std::string inside;
  for (graph_box const& group : layout.groups())
    inside += "<rect x=\"" + coordinate(group.left) + "\" y=\"" + coordinate(group.top) + "\" width=\"" +
              coordinate(group.width) + "\" height=\"" + coordinate(group.height) + "\" rx=\"8\" class=\"group\"/>\n";
  for (graph_edge const& e : layout.edges()) {
    std::string const x = coordinate(e.x), end = coordinate(e.to), arrow = coordinate(e.to - 4);
    if (!e.rail) {
      inside += svg_path("M" + x + " " + coordinate(e.from) + "V" + end + "m-4 -5l4 5l4 -5", "flow") + "\n";
    } else {
      std::string const lane = coordinate(e.lane);
      inside += svg_path("M" + coordinate(e.start) + " " + coordinate(e.from) + "H" + lane + "V" + end + "H" + x +
                             "m-5 -4l5 4l-5 4",
                         "rail") +
                "\n";
    }
  }
  for (std::size_t i = 0; i < r.graph.size(); ++i)
    if (layout.is_drawn(i)) inside += draw_node(r, r.graph[i], layout.box(i));
  std::string text = "<h2>Layers, splits and collectives</h2>\n<p>In the order of forward. ";
  text += r.run.mesh.tp == 1 ? "One shard holds every parameter, so nothing is cut and nothing is sent between layers."
                             : "Blue is cut over the " + std::to_string(r.run.mesh.tp) +
                                   " shards, with one rank's part filled; orange is sent between them.";
  return text + "</p>\n<div class=\"narrow\">\n" +
         svg(graph_layout::width, layout.height(), "the layers of the model with their splits and collectives",
             inside) +
         "</div>\n";
}

}  // namespace redco::report::detail
