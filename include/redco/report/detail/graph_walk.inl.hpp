#pragma once

#include <redco/report/detail/graph_walk.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::detail {

REDCO_INLINE void graph_walk::produce(extents shape, int split_dim, std::int64_t units) {
  int const from = activation.id;
  base::produce(shape, split_dim, units);
  graph_node& node = sink_.node;
  std::vector<int> reads = std::move(sink_.reads);
  reads.insert(reads.begin(), from);
  bool const plain = node.parameters.empty() && node.what == kind::function;
  if (sink_.talks) {
    node.what = *sink_.talks;
  } else if (!node.parameters.empty()) {
    node.what = kind::layer;
  } else if (waiting_ >= 0) {
    node.what = kind::add;
    reads.insert(reads.begin(), waiting_);
  }
  finish(reads);
  unsure_ = plain && graph_.back().what == kind::function;
  waiting_ = -1;
}

REDCO_INLINE void graph_walk::backward(flow const& input) {
  unsure_ = false;
  base::backward(input);
  if (graph_.empty()) return;
  graph_.back().layer = sink_.node.layer;
  if (graph_.back().what == kind::add) {  // what waited was not for this node
    graph_.back().what = kind::function;
    reads_.back() = {input.id};
  }
}

REDCO_INLINE void graph_walk::enter(flow const& entering) {
  base::enter(entering);
  if (entering.id == 0) return;
  entered_.push_back(entering.id);
  if (entering.id == encoded.id) sink_.reads.push_back(encoded.id);  // beside the activation
}

REDCO_INLINE model_graph graph_walk::take() {
  if (sink_.states) finish({activation.id});
  finish_sum();
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    for (int const id : reads_[i]) {
      if (std::size_t const from = maker(id); from < i) graph_[i].inputs.push_back(from);
      bool const opens = graph_[i].what != kind::add && !is_collective(graph_[i].what);
      graph_[i].enters = graph_[i].enters || (opens && std::count(entered_.begin(), entered_.end(), id) > 0);
    }
    std::sort(graph_[i].inputs.begin(), graph_[i].inputs.end());
    graph_[i].inputs.erase(std::unique(graph_[i].inputs.begin(), graph_[i].inputs.end()), graph_[i].inputs.end());
  }
  return std::move(graph_);
}

REDCO_INLINE std::size_t graph_walk::maker(int id) const {
  return static_cast<std::size_t>(std::find(makes_.begin(), makes_.end(), id) - makes_.begin());
}

REDCO_INLINE void graph_walk::finish(std::vector<int> const& reads) {
  finish_sum();
  graph_node& node = sink_.node;
  if (node.what != kind::head) {
    node.output = activation.shape;
    node.split_dim = activation.split_dim;
    node.units = activation.units;
  }
  node.depth = depth_;
  graph_.push_back(std::exchange(node, {}));
  reads_.push_back(reads);
  makes_.push_back(activation.id);
  sink_.states = false;
  sink_.talks.reset();
  sink_.reads.clear();
}

REDCO_INLINE void graph_walk::finish_sum() {
  if (!std::exchange(unsure_, false)) return;
  std::vector<int>& joined = reads_.back();
  for (std::size_t i = 0; i + 1 < makes_.size(); ++i) {
    bool const read = std::any_of(reads_.begin(), reads_.end(),
                                  [&](auto const& r) { return std::count(r.begin(), r.end(), makes_[i]) > 0; });
    if (!read && makes_[i] != encoded.id && graph_[i].depth == depth_) joined.push_back(makes_[i]);
  }
  if (joined.size() > 1) graph_.back().what = kind::add;
}

}  // namespace redco::detail
