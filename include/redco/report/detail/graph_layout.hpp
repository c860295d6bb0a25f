#pragma once

#include <redco/report/detail/graph_lines.hpp>
#include <redco/report/shard_report.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace redco::report::detail {

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
      drawn_[i] = !is_collective(n.what) || r.run.mesh.tp > 1;
      while (static_cast<int>(open.size()) > n.depth - (n.what == graph_node::kind::block)) close(open);
      if (n.what == graph_node::kind::block) {
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
    if (n.what == graph_node::kind::add || n.what == graph_node::kind::block) return 18;
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
        bool const to_circle = graph_[i].what == graph_node::kind::add,
                   from_circle = graph_[from].what == graph_node::kind::add;
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
