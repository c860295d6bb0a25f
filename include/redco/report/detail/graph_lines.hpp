#pragma once

#include <redco/report/detail/numbers.hpp>
#include <redco/report/shard_report.hpp>

#include <redco/cost/local_extents.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
  return parameters || n.split_dim >= 0 || n.what == graph_node::kind::head;
}

inline std::string node_title(shard_report const& r, graph_node const& n) {
  std::string const name = relative_name(n.layer.view()), before = name.empty() ? "" : name + ": ";
  switch (n.what) {
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
  if (is_collective(n.what)) {
    std::string_view const how = n.what == graph_node::kind::all_reduce   ? "all-reduce over "
                                 : n.what == graph_node::kind::all_gather ? "all-gather of tokens over "
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

}  // namespace redco::report::detail
