#pragma once

#include <redco/report/model_graph.hpp>

#include <redco/fact/activation_fact.hpp>
#include <redco/fact/mistake_fact.hpp>
#include <redco/fact/parameter_fact.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace redco::detail {

/// What the layers have stated since the last node.
struct pending_node {
  graph_node node;
  std::vector<int> reads;  ///< tensors beside the activation
  bool states = false;
  std::optional<graph_node::kind> talks;  ///< which collective makes the next activation

  void add(parameter_fact const& f) {
    node.parameters.push_back(parameters++), states = true;
    node.layer = {};
    node.layer.push(f.name.view().substr(0, f.name.view().find_last_of('.')));
  }
  void add(saved_fact const& f) {
    if (f.role == saved_role::uncounted) return;
    node.layer = f.layer;
    if (f.slot.view() == "log_sum_exp") node.what = graph_node::kind::attention;
    if (f.slot.view() == "hidden") node.what = graph_node::kind::head, states = true;
  }
  void add(message_fact const& f) {
    if (f.backward || !(f.over == axes(axis::tp)) || f.kind != width_kind::compute) return;
    using kind = graph_node::kind;
    talks = f.what == collective::all_gather       ? kind::all_gather
            : f.what == collective::reduce_scatter ? kind::reduce_scatter
                                                   : kind::all_reduce;
  }
  void amend(int, saved_role, std::int64_t) {}
  void add(mistake_fact const&) {}
  void made(int, path const&) {}
  void add_work(std::int64_t, bool) {}

  std::size_t parameters = 0;  ///< how many the model has so far
};

}  // namespace redco::detail
