#pragma once

#include <redco/report/detail/pending_node.hpp>
#include <redco/report/model_graph.hpp>

#include <redco/layer/walk.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::detail {

/// A walk that also follows which activation is made of which, and so finds the graph that layers only state in pieces.
/// A layer's parameters precede the activation that it makes; kept tensors follow it.
class graph_walk : public walk<pending_node> {
  using base = walk<pending_node>;
  using kind = graph_node::kind;

 public:
  graph_walk(pending_node& sink, extents input, extents encoder_input)
      : base(sink, input, encoder_input), sink_(sink) {}

  void produce(extents shape, int split_dim = -1, std::int64_t units = 0) {
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

  /// Only what computes has a backward: what is produced without one joins parallel branches.
  void backward(flow const& input) {
    unsure_ = false;
    base::backward(input);
    if (graph_.empty()) return;
    graph_.back().layer = sink_.node.layer;
    if (graph_.back().what == kind::add) {  // what waited was not for this node
      graph_.back().what = kind::function;
      reads_.back() = {input.id};
    }
  }

  template <class Body>
  void carrying(flow const& waiting, Body&& body) {
    int const id = waiting.id;  // `waiting` may be the activation itself
    base::carrying(waiting, std::forward<Body>(body));
    waiting_ = id;
  }

  void enter(flow const& entering) {
    base::enter(entering);
    if (entering.id == 0) return;
    entered_.push_back(entering.id);
    if (entering.id == encoded.id) sink_.reads.push_back(encoded.id);  // beside the activation
  }

  template <class Body>
  void repeated(std::int64_t times, Body&& body) {
    int const entry = activation.id;
    base::repeated(times, [&] {
      ++depth_;
      sink_.node.what = kind::block;
      sink_.node.copies = times;
      finish({entry});
      body();
      settle_sum();
      --depth_;
    });
  }

  model_graph take() {
    if (sink_.states) finish({activation.id});
    settle_sum();
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

 private:
  std::size_t maker(int id) const {
    return static_cast<std::size_t>(std::find(makes_.begin(), makes_.end(), id) - makes_.begin());
  }

  void finish(std::vector<int> const& reads) {
    settle_sum();
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

  /// The node made last joins every activation that nobody has read yet.
  void settle_sum() {
    if (!std::exchange(unsure_, false)) return;
    std::vector<int>& joined = reads_.back();
    for (std::size_t i = 0; i + 1 < makes_.size(); ++i) {
      bool const read = std::any_of(reads_.begin(), reads_.end(),
                                    [&](auto const& r) { return std::count(r.begin(), r.end(), makes_[i]) > 0; });
      if (!read && makes_[i] != encoded.id && graph_[i].depth == depth_) joined.push_back(makes_[i]);
    }
    if (joined.size() > 1) graph_.back().what = kind::add;
  }

  pending_node& sink_;
  model_graph graph_;
  std::vector<std::vector<int>> reads_;  ///< tensors that each node reads
  std::vector<int> makes_;               ///< and the one that it makes
  std::vector<int> entered_;
  int waiting_ = -1;  ///< beside the residual branch that has just ended
  int depth_ = 0;
  bool unsure_ = false;  ///< whether the last node has a backward is not known yet
};

}  // namespace redco::detail
