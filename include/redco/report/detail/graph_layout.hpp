#pragma once

#include <redco/report/detail/numbers.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/cost/local_extents.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::report::detail {

/// A line of text in the box of a node in the drawing of a model. If `parameter` is set, a small
/// picture of this parameter's split precedes the text.
struct graph_line {
  std::string text;
  std::string style;
  shard::entry const* parameter = nullptr;
  bool centred = false;
};

/// Returns the part of a layer's name that follows the name of its repeated block: "mlp.up" for
/// "h.*.mlp.up" (all blocks) and for "h.0::2.mlp.up" (every second block).
inline std::string relative_name(std::string_view name) {
  std::size_t const mark = name.find_last_of("*:");
  if (mark == std::string_view::npos) return std::string(name);
  std::size_t const end = name.find('.', mark);
  return end == std::string_view::npos ? "" : std::string(name.substr(end + 1));
}

inline std::string_view layer_of(std::string_view parameter) {
  return parameter.substr(0, parameter.find_last_of('.'));
}

inline extents local_output(shard_report const& r, graph_node const& n) {
  return cost::local_extents({n.output, n.split_dim, n.units}, r.run.mesh.tp);
}

/// Returns true if model shards hold different parts of the node's parameters or of its output.
inline bool is_cut(shard_report const& r, graph_node const& n) {
  if (r.run.mesh.tp == 1) return false;
  bool const parameters = std::any_of(n.parameters.begin(), n.parameters.end(),
                                      [&](std::size_t p) { return r.plan.entries[p].is_split(); });
  return parameters || n.split_dim >= 0 || n.role == graph_node::kind::head;
}

inline std::string node_title(shard_report const& r, graph_node const& n) {
  std::string const name = relative_name(n.layer.view()), before = name.empty() ? "" : name + ": ";
  switch (n.role) {
    case graph_node::kind::attention: return before + "attended values";
    case graph_node::kind::head:
      return n.parameters.empty() ? "logits and loss, with the tied table" : "logits and loss";
    case graph_node::kind::function:
      return before + (n.inputs.size() == 1 && r.graph[n.inputs[0]].output == n.output ? "elementwise" : "function");
    default: return name;
  }
}

/// Returns the lines of text in a node's box in the drawing of a model. They have the node's name,
/// its layers with the shape of their first parameter, and the shape of its output.
inline std::vector<graph_line> lines_of(shard_report const& r, graph_node const& n) {
  int const tp = r.run.mesh.tp;
  std::vector<graph_line> lines;
  if (is_collective(n.role)) {
    std::string_view const how = n.role == graph_node::kind::all_reduce   ? "all-reduce over "
                                 : n.role == graph_node::kind::all_gather ? "all-gather of tokens over "
                                                                          : "reduce-scatter of tokens over ";
    std::int64_t const bytes = n.output.count() * shape::size_of(r.run.compute);
    lines.push_back(
        {std::string(how) + std::to_string(tp) + " shards, " + bytes_text(bytes), "sum strong", nullptr, true});
    return lines;
  }
  if (n.enters && tp > 1) lines.push_back({"backward: all-reduce of the input's gradient", "sum"});
  std::vector<shard::entry const*> layers;  // first parameter of each layer
  for (std::size_t const p : n.parameters) {
    shard::entry const* const e = &r.plan.entries[p];
    auto const same = [&](shard::entry const* o) {
      return layer_of(o->fact.name.view()) == layer_of(e->fact.name.view());
    };
    if (std::none_of(layers.begin(), layers.end(), same)) layers.push_back(e);
  }
  if (layers.size() != 1) lines.push_back({node_title(r, n), "strong"});
  for (shard::entry const* const e : layers) {
    std::string const name = relative_name(layer_of(e->fact.name.view())), style = layers.size() == 1 ? "strong" : "";
    std::string shape = extents_text(e->fact.shape);
    if (e->is_split()) shape += " \u2192 " + extents_text(e->local());
    bool const fits = name.size() + shape.size() < 46;
    lines.push_back({fits ? name + " " + shape : name, style, e});
    if (!fits) lines.push_back({shape, style});
  }
  if (n.output.rank > 0) {
    bool const cut = tp > 1 && n.split_dim >= 0;
    lines.push_back(
        {"gives " + extents_text(n.output) + (cut ? " \u2192 " + extents_text(local_output(r, n)) : ""), "soft"});
  }
  return lines;
}

struct graph_box {
  static constexpr double line_height = 15;
  double left = 0, top = 0, width = 0, height = 0;
};

/// An edge in the drawing of a model's graph. A simple edge is an arrow down at `x`. A rail goes
/// from `start` left to `lane`, down along `lane`, and right to `x`.
struct graph_edge {
  double x = 0, from = 0, to = 0, lane = 0, start = 0;
  bool rail = false;
};

/// A layout of the drawing of a model's graph: nodes in one column, and edges that skip nodes on
/// lanes at the left.
class graph_layout {
 public:
  static constexpr double width = 400, margin = 44, gap = 14;

  explicit graph_layout(shard_report const& r) : graph_(r.graph), boxes_(graph_.size()), drawn_(graph_.size()) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      graph_node const& n = graph_[i];
      drawn_[i] = !is_collective(n.role) || r.run.mesh.tp > 1;
      while (static_cast<int>(open.size()) > n.depth - (n.role == graph_node::kind::block)) close(open);
      if (n.role == graph_node::kind::block) {
        open.push_back(groups_.size());
        groups_.push_back({margin - 40 + 4 * (n.depth - 1), y_, width - margin + 40 - 8 * (n.depth - 1), 0});
        y_ += 4;
      }
      if (!drawn_[i]) continue;
      double const inset = 4 * n.depth;
      boxes_[i] = {margin + inset, y_, width - margin - 2 * inset - 2, height_of(r, n)};
      y_ += boxes_[i].height + gap;
    }
    while (!open.empty()) close(open);
    connect();
  }

  bool is_drawn(std::size_t i) const { return drawn_[i]; }
  graph_box const& box(std::size_t i) const { return boxes_[i]; }
  std::vector<graph_box> const& groups() const { return groups_; }
  std::vector<graph_edge> const& edges() const { return edges_; }
  double height() const { return y_; }

 private:
  static double height_of(shard_report const& r, graph_node const& n) {
    if (n.role == graph_node::kind::add || n.role == graph_node::kind::block) return 18;
    return static_cast<double>(lines_of(r, n).size()) * graph_box::line_height + 7;
  }

  void close(std::vector<std::size_t>& open) {
    graph_box& group = groups_[open.back()];
    group.height = y_ - group.top - gap + 8;
    open.pop_back();
    y_ += 8;
  }

  void connect() {
    std::vector<std::pair<double, double>> lanes;  // occupied interval (from, to) of each lane
    std::size_t previous = graph_.size();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (!drawn_[i]) continue;
      for (std::size_t from : graph_[i].inputs) {
        while (!drawn_[from] && !graph_[from].inputs.empty()) from = graph_[from].inputs.front();
        graph_box const& a = boxes_[from];
        graph_box const& b = boxes_[i];
        double const middle = b.left + b.width / 2;
        if (from == previous) {
          edges_.push_back({middle, bottom(from), b.top, 0, 0, false});
          continue;
        }
        bool const to_circle = graph_[i].role == graph_node::kind::add,
                   from_circle = graph_[from].role == graph_node::kind::add;
        double const start = a.top + a.height / 2 + (from_circle ? 6 : 0), end = b.top + b.height / 2;
        std::size_t lane = 0;
        while (lane < lanes.size() && lanes[lane].second > start - 1) ++lane;
        if (lane == lanes.size()) lanes.emplace_back();
        lanes[lane] = {start, end};
        edges_.push_back({to_circle ? middle - 10 : b.left, start, end,
                          margin - 8 - 7 * static_cast<double>(std::min<std::size_t>(lane, 4)),
                          from_circle ? a.left + a.width / 2 - 7 : a.left, true});
      }
      previous = i;
    }
  }

  double bottom(std::size_t i) const { return boxes_[i].top + boxes_[i].height; }

  model_graph const& graph_;
  std::vector<graph_box> boxes_, groups_;
  std::vector<bool> drawn_;
  std::vector<graph_edge> edges_;
  double y_ = 4;
};

}  // namespace redco::report::detail
