#pragma once

#include <redco/report/model_graph.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::report::detail {

/// A builder of a model's graph from the events of its program (the statements of its layers in
/// execution order).
class graph_maker {
  using kind = graph_node::kind;

 public:
  explicit graph_maker(fact::program const& p) : program_(p) {
    for (fact::event const& e : p.events) visit(e);
    connect();
  }

  model_graph take() { return std::move(graph_); }

 private:
  void visit(fact::event const& e) {
    using fact::event_kind;
    switch (e.kind) {
      case fact::event_kind::parameter: {
        std::string_view const name = program_.parameters[static_cast<std::size_t>(e.count)].name.view();
        parameters_.push_back(static_cast<std::size_t>(e.count));
        speaker_ = name.substr(0, name.find_last_of('.'));
        return;
      }
      case fact::event_kind::read: reading_.push_back(e.tensor.id); return;
      case fact::event_kind::enter: entered_.push_back(e.tensor.id); return;
      case fact::event_kind::make: make(e); return;
      case fact::event_kind::repeat: {
        ++depth_;
        speaker_ = program_.layer_of(e);
        add(kind::block, e);
        graph_.back().copies = e.blocks.count();
        return;
      }
      case fact::event_kind::repeat_end:
        --depth_;
        speaker_ = program_.layer_of(e);
        return;
      case fact::event_kind::moment:
        // The moment event of a layer's own backward follows the make event of the layer's output
        // and has the layer's name.
        if (e.tensor.id >= 0 && !graph_.empty()) rename(graph_.back(), program_.layer_of(e));
        speaker_ = program_.layer_of(e);
        return;
      case fact::event_kind::message:
      case fact::event_kind::multiply:
      case fact::event_kind::uncounted: return;
      default: speaker_ = program_.layer_of(e);
    }
  }

  void make(fact::event const& e) {
    switch (e.how) {
      case fact::making::attention: return add(kind::attention, e);
      case fact::making::add: return add(kind::add, e);
      case fact::making::collective:
        return add(kind_of(program_.messages[static_cast<std::size_t>(e.count)].collective), e);
      case fact::making::logits: return add(kind::head, e);
      case fact::making::function: break;
    }
    add(parameters_.empty() ? kind::function : kind::layer, e);
  }

  static kind kind_of(shape::collective one) {
    return one == shape::collective::all_gather       ? kind::all_gather
           : one == shape::collective::reduce_scatter ? kind::reduce_scatter
                                                      : kind::all_reduce;
  }

  static void rename(graph_node& node, std::string_view name) {
    node.layer = {};
    node.layer.push(name);
  }

  /// Adds a node for the event `e` (a statement of a layer) to the graph. A node whose layer has
  /// stated nothing else gets the name of the layer of the latest event.
  void add(kind role, fact::event const& e) {
    graph_node node;
    node.role = role;
    rename(node, std::exchange(speaker_, {}));
    bool const computes = role == kind::layer || role == kind::head;
    if (computes) node.parameters = std::exchange(parameters_, {});
    node.output = e.tensor.shape;
    node.split_dim = e.tensor.split_dim;
    node.units = e.tensor.units;
    node.depth = depth_;
    graph_.push_back(std::move(node));
    reading_.push_back(e.from);
    reads_.push_back(std::exchange(reading_, {}));
    makes_.push_back(e.tensor.id);
  }

  void connect() {
    auto const has_entered = [&](int id) { return std::count(entered_.begin(), entered_.end(), id) > 0; };
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      graph_node& node = graph_[i];
      for (std::size_t from = 0; from < i; ++from)
        if (std::count(reads_[i].begin(), reads_[i].end(), makes_[from]) > 0) node.inputs.push_back(from);
      bool const opens = node.role != kind::add && !is_collective(node.role);
      node.enters = opens && std::any_of(reads_[i].begin(), reads_[i].end(), has_entered);
    }
  }

  fact::program const& program_;
  model_graph graph_;
  /// For each node of the graph, ids of the activations that the node reads.
  std::vector<std::vector<int>> reads_;
  /// For each node of the graph, id of the activation that the node produces.
  std::vector<int> makes_;
  std::vector<int> entered_;
  /// Ids of the activations that the next node reads in addition to its input.
  std::vector<int> reading_;
  std::vector<std::size_t> parameters_;  ///< Indices of the parameters of the next node
  /// Name of the next node: the layer of the latest event since the last node was added.
  std::string_view speaker_;
  int depth_ = 0;
};

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE model_graph graph_of(fact::program const& p) { return detail::graph_maker(p).take(); }

}  // namespace redco::report
