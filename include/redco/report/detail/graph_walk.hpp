#pragma once

#include <redco/report/detail/pending_node.hpp>
#include <redco/report/model_graph.hpp>

#include <redco/fact/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::detail {

/// A walk that also follows which activation is made of which, and so finds the graph that layers only state in pieces.
/// A layer's parameters precede the activation that it makes; kept tensors follow it.
class graph_walk : public walk<pending_node> {
  using base = walk<pending_node>;
  using kind = graph_node::kind;

 public:
  graph_walk(pending_node& sink, extents input, extents encoder_input, bool stated)
      : base(sink, input, encoder_input, stated), sink_(sink) {}

  void produce(extents shape, int split_dim = -1, std::int64_t units = 0);

  /// Only what computes has a backward: what is produced without one joins parallel branches.
  void backward(flow const& input);

  template <class Body>
  void carrying(flow const& waiting, Body&& body) {
    int const id = waiting.id;  // `waiting` may be the activation itself
    base::carrying(waiting, std::forward<Body>(body));
    waiting_ = id;
  }

  void enter(flow const& entering);

  template <class Body>
  void repeated(std::int64_t times, Body&& body) {
    int const entry = activation.id;
    base::repeated(times, [&] {
      ++depth_;
      sink_.node.what = kind::block;
      sink_.node.copies = times;
      finish({entry});
      body();
      finish_sum();
      --depth_;
    });
  }

  model_graph take();

 private:
  std::size_t maker(int id) const;
  void finish(std::vector<int> const& reads);

  /// The node made last joins every activation that nobody has read yet.
  void finish_sum();

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

#ifndef REDCO_COMPILED
#include <redco/report/detail/graph_walk.inl.hpp>
#endif
