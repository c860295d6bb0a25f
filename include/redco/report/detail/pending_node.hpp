#pragma once

#include <redco/report/model_graph.hpp>

#include <redco/layer/activation_fact.hpp>
#include <redco/layer/parameter_fact.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::detail {

/// What the layers have stated since the last node.
struct pending_node {
  graph_node node;
  std::vector<int> reads;  ///< tensors beside the activation
  bool reduces = false, states = false;

  void add(parameter_fact const& f) {
    node.parameters.push_back(parameters++), states = true;
    node.layer = {};
    node.layer.push(f.name.view().substr(0, f.name.view().find_last_of('.')));
  }
  void add(saved_fact const& f) {
    node.layer = f.layer;
    if (f.slot.view() == "log_sum_exp") node.what = graph_node::kind::attention;
    if (f.slot.view() == "hidden") node.what = graph_node::kind::head, states = true;
  }
  void add(message_fact const& f) { reduces = reduces || (!f.backward && f.kind == width_kind::compute); }
  void amend(int, saved_role, std::int64_t) {}
  void add_work(std::int64_t, bool) {}

  std::size_t parameters = 0;  ///< how many the model has so far
};

}  // namespace redco::detail
