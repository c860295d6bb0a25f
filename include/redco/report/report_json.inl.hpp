#pragma once

#include <redco/report/report_json.hpp>

#include <redco/report/memory_lines.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_moments.hpp>
#include <redco/options/recomputed_blocks_text.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/group_name.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco {

namespace detail {

inline json_value json_of(extents const& shape) {
  json_value list = json_value::array();
  for (int d = 0; d < shape.rank; ++d) list.push_back(shape[d]);
  return list;
}

/// True for all blocks, false for none, else as the option has it.
inline json_value json_of(recomputed_blocks const& blocks) {
  if (blocks == recomputed_blocks(blocks.any())) return blocks.any();
  return options::to_text(blocks);
}

inline json_value json_of(graph_node const& node) {
  json_value j;
  j["kind"] = std::string(name_of(node.what));
  j["layer"] = std::string(node.layer.view());
  j["inputs"] = node.inputs;
  j["parameters"] = node.parameters;
  j["output"] = json_of(node.output);
  j["split_dim"] = node.split_dim;
  j["enters"] = node.enters;
  j["depth"] = node.depth;
  j["copies"] = node.copies;
  return j;
}

template <class Lines>
json_value json_of_lines(Lines const& lines) {
  json_value result = json_value::object();
  for (memory_line const& line : lines) result[std::string(line.kind)] = line.bytes;
  return result;
}

}  // namespace detail

REDCO_INLINE json_value report_json(shard_report const& r) {
  json_value j;
  j["schema"] = "redco.shard_report";
  j["version"] = 1;
  j["run"] = {{"dp", r.run.mesh.dp},
              {"tp", r.run.mesh.tp},
              {"dtype", std::string(name_of(r.run.compute))},
              {"optimizer", r.optimizer},
              {"batch", r.run.load.batch},
              {"sequence", r.run.load.sequence},
              {"micro_batches", r.run.micro_batches},
              {"recompute", detail::json_of(r.run.recompute)},
              {"prefetch", r.run.prefetch}};
  if (r.run.mesh.ep > 1) j["run"]["ep"] = r.run.mesh.ep;
  if (r.run.load.source > 0) j["run"]["source"] = r.run.load.source;
  j["plan"] = json_value::array();
  for (entry const& e : r.plan.entries) {
    json_value p;
    p["name"] = std::string(e.fact.name.view());
    p["copies"] = e.fact.copies();
    p["logical"] = detail::json_of(e.fact.shape);
    p["local"] = detail::json_of(e.local());
    p["split_dim"] = e.fact.on(axis::tp).dim;
    p["sharers"] = e.sharers(axis::tp);
    for (place const& one : e.fact.places)
      if (one.dim >= 0 && one.axis != axis::tp)
        p["split_over"][std::string(name_of(one.axis))] = {{"dim", one.dim}, {"sharers", e.sharers(one.axis)}};
    p["reason"] = std::string(sentence_of(e.fact.why));
    j["plan"].push_back(std::move(p));
  }
  j["bytes"] = detail::json_of_lines(memory_lines(r.cost.memory));
  j["activations"] = json_value::array();
  for (layer_activations const& one : r.activations)
    j["activations"].push_back({{"layer", std::string(one.layer.view())},
                                {"bytes", one.counted ? json_value(one.bytes) : json_value(nullptr)}});
  j["phases"] = detail::json_of_lines(phase_lines(r.cost.memory));
  j["moments"] = json_value::array();
  for (step_moment const& m : step_moments(r.cost.memory))
    j["moments"].push_back({{"phase", std::string(m.phase)}, {"what", std::string(m.what)}, {"bytes", m.total()}});
  j["peak_bytes"] = r.cost.memory.peak();
  j["budget_bytes"] = r.budget > 0 ? json_value(r.budget) : json_value(nullptr);
  operations const& o = r.cost.operations;
  j["operations"] = {
      {"forward", o.forward}, {"backward", o.backward}, {"again", o.again}, {"per_token", o.per_token(r.run)}};
  j["messages"] = json_value::array();
  for (message_total const& line : r.cost.messages)
    if (line.calls > 0)
      j["messages"].push_back({{"purpose", std::string(line.purpose)},
                               {"group", group_name(r.run.mesh, line.over)},
                               {"ranks", line.ranks},
                               {"collective", std::string(name_of(line.what))},
                               {"calls", line.calls},
                               {"payload_bytes", line.payload_bytes},
                               {"wire_bytes", line.wire_bytes}});
  j["graph"] = json_value::array();
  for (graph_node const& node : r.graph) j["graph"].push_back(detail::json_of(node));
  return j;
}

}  // namespace redco
