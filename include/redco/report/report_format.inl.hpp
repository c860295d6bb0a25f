#pragma once

#include <redco/report/report_format.hpp>

#include <redco/report/detail/html_graph.hpp>
#include <redco/report/detail/html_phases.hpp>
#include <redco/report/detail/html_style.hpp>
#include <redco/report/detail/html_tables.hpp>
#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/detail/stages_text.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_memory.hpp>
#include <redco/options/value_text.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/config.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redco::report::detail {

inline json::json_value json_of(extents const& shape) {
  json::json_value list = json::json_value::array();
  for (int d = 0; d < shape.rank; ++d) list.push_back(shape[d]);
  return list;
}

/// Returns the JSON value for the recomputed blocks of a run: true for all blocks, false for none,
/// otherwise the value of the option --recompute as text.
inline json::json_value json_of(recomputed_blocks const& blocks) {
  if (blocks == recomputed_blocks(blocks.any())) return blocks.any();
  return options::to_text(blocks);
}

inline json::json_value json_of(graph_node const& node) {
  json::json_value j;
  j["kind"] = std::string(name_of(node.role));
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
json::json_value json_of_lines(Lines const& lines) {
  json::json_value result = json::json_value::object();
  for (memory_line const& line : lines)
    if (line.bytes > 0 || !(line.kind == "between stages" || line.kind == "gathered"))
      result[std::string(line.kind)] = line.bytes;
  return result;
}

inline json::json_value json_of(shard_report const& r, report_answer const& answer) {
  json::json_value j;
  j["fits"] = r.budget > 0 ? json::json_value(r.fits()) : json::json_value(nullptr);
  j["same_ranks"] = answer.asked.keeps_ranks();
  j["widths"] = json::json_value::array();
  for (legal_width const& one : answer.widths) {
    json::json_value width = {
        {"model_shards", one.mesh.tp}, {"mesh", options::to_text(one.mesh)}, {"peak_bytes", one.peak}};
    if (r.budget > 0) width["fits"] = one.peak <= r.budget;
    j["widths"].push_back(std::move(width));
  }
  j["smallest_change"] = nullptr;
  if (answer.change)
    j["smallest_change"] = {
        {"what", answer.change->description}, {"options", answer.change->options}, {"peak_bytes", answer.change->peak}};
  j["step_seconds"] = answer.step_seconds ? json::json_value(*answer.step_seconds) : json::json_value(nullptr);
  if (answer.idle_share) j["idle_share"] = *answer.idle_share;
  return j;
}

inline json::json_value json_of(std::vector<cost::stage_cost> const& stages) {
  json::json_value list = json::json_value::array();
  for (cost::stage_cost const& one : stages) {
    json::json_value blocks = json::json_value::array();  // begin and end of each chunk
    for (cost::stage_cost::chunk const& chunk : one.chunks) {
      blocks.push_back(chunk.blocks.begin);
      blocks.push_back(chunk.blocks.end);
    }
    list.push_back({{"blocks", blocks},
                    {"parameter_bytes", one.cost.memory.parameters},
                    {"peak_bytes", one.cost.memory.peak()},
                    {"in_flight", one.in_flight},
                    {"received_bytes", one.received},
                    {"sent_bytes", one.sent},
                    {"operations", one.cost.operations.total()},
                    {"wire_bytes", one.cost.messages.wire_bytes()}});
  }
  return list;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE json::json_value report_json(shard_report const& r) {
  json::json_value j;
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
  if (r.run.mesh.ds > 1) j["run"]["ds"] = r.run.mesh.ds;
  if (r.run.mesh.ep > 1) j["run"]["ep"] = r.run.mesh.ep;
  if (r.run.mesh.cp > 1) j["run"]["cp"] = r.run.mesh.cp;
  if (r.run.load.source > 0) j["run"]["source"] = r.run.load.source;
  bool const several = r.run.hosts > 1;
  if (several) j["run"]["hosts"] = r.run.hosts;
  if (r.run.zero.level > 0) j["run"]["zero"] = r.run.zero.level;
  if (r.run.zero.owner != shape::zero_owner::element) j["run"]["zero_owner"] = std::string(name_of(r.run.zero.owner));
  if (r.run.zero.keep > 0) j["run"]["zero_keep"] = r.run.zero.keep;
  if (r.answer) j["answer"] = detail::json_of(r, *r.answer);
  if (!r.stages.empty()) {
    j["run"].update({{"pp", r.run.mesh.pp}, {"schedule", detail::schedule_name(r)}});
    j["stages"] = detail::json_of(r.stages);
  }
  j["plan"] = json::json_value::array();
  for (shard::entry const& e : r.plan.entries) {
    json::json_value p;
    p["name"] = std::string(e.fact.name.view());
    p["copies"] = e.fact.copies();
    p["logical"] = detail::json_of(e.fact.shape);
    p["local"] = detail::json_of(e.local());
    p["split_dim"] = e.fact.on(shape::axis::tp).dim;
    p["sharers"] = e.sharers(shape::axis::tp);
    for (shape::place const& one : e.fact.places)
      if (one.dim >= 0 && one.axis != shape::axis::tp)
        p["split_over"][std::string(name_of(one.axis))] = {{"dim", one.dim}, {"sharers", e.sharers(one.axis)}};
    p["reason"] = std::string(fact::sentence_of(e.fact.why));
    j["plan"].push_back(std::move(p));
  }
  j["bytes"] = detail::json_of_lines(memory_lines(r.cost.memory));
  j["activations"] = json::json_value::array();
  for (cost::layer_activations const& one : r.activations)
    j["activations"].push_back({{"layer", std::string(one.layer.view())},
                                {"bytes", one.counted ? json::json_value(one.bytes) : json::json_value(nullptr)}});
  j["phases"] = detail::json_of_lines(phase_lines(r.cost.memory));
  j["moments"] = json::json_value::array();
  for (step_moment const& m : step_moments(r.cost.memory))
    j["moments"].push_back({{"phase", std::string(m.phase)}, {"what", std::string(m.event)}, {"bytes", m.total()}});
  j["peak_bytes"] = r.cost.memory.peak();
  j["budget_bytes"] = r.budget > 0 ? json::json_value(r.budget) : json::json_value(nullptr);
  cost::operations const& o = r.cost.operations;
  j["operations"] = {
      {"forward", o.forward}, {"backward", o.backward}, {"again", o.again}, {"per_token", o.per_token(r.run)}};
  j["messages"] = json::json_value::array();
  for (cost::message_total const& line : r.cost.messages) {
    if (line.calls == 0) continue;
    json::json_value one = {{"purpose", std::string(line.purpose)},
                            {"group", shape::group_name(r.run.mesh, line.over)},
                            {"ranks", line.ranks},
                            {"collective", std::string(name_of(line.collective))},
                            {"calls", line.calls},
                            {"payload_bytes", line.payload_bytes},
                            {"wire_bytes", line.wire_bytes}};
    if (several)
      one.update({{"hosts", line.hosts}, {"inside_bytes", line.inside_bytes}, {"host_bytes", line.host_bytes}});
    j["messages"].push_back(std::move(one));
  }
  j["graph"] = json::json_value::array();
  for (graph_node const& node : r.graph) j["graph"].push_back(detail::json_of(node));
  return j;
}

REDCO_INLINE std::string report_html(shard_report const& r, std::string const& title) {
  cost::setup const& s = r.run;
  std::string const name = detail::escaped(title), mesh = options::to_text(s.mesh);
  int const replicas = s.mesh.size(shape::batch_axes);
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      name + ", mesh " + mesh + "</title>\n" + std::string(detail::html_style) + "</head>\n<body>\n<h1>" + name +
      "</h1>\n<ul class=\"run\">\n";
  auto const item = [&](std::string const& entry) { text += "<li>" + detail::escaped(entry) + "</li>\n"; };
  item("mesh " + mesh + ": " + std::to_string(replicas) + (replicas == 1 ? " replica of " : " replicas of ") +
       std::to_string(s.mesh.tp) + (s.mesh.tp == 1 ? " shard" : " shards") + detail::hosts_text(s.hosts));
  item(std::string(name_of(s.compute)));
  item(r.optimizer);
  item(std::to_string(s.micro_batches) + (s.micro_batches == 1 ? " micro-batch of " : " micro-batches of ") +
       detail::examples_text(s.load));
  if (s.recompute.any()) item(detail::recomputed_text(s.recompute));
  if (s.zero.level > 0) item(detail::zero_text(s));
  text += "</ul>\n" + detail::html_answer(r) + detail::html_stages(r) + detail::html_bytes(r) + detail::html_phases(r) +
          detail::html_graph(r) + detail::html_parameters(r) + detail::html_messages(r) +
          std::string(detail::html_script) + "</body>\n</html>\n";
  return text;
}

REDCO_INLINE std::string report_as(report_format format, shard_report const& r, std::string const& title) {
  switch (format) {
    case report_format::txt: return report_text(r);
    case report_format::md: return report_markdown(r);
    case report_format::json: return json::dump_json(report_json(r), 1) + "\n";
    case report_format::html: return report_html(r, title);
  }
  return {};
}

}  // namespace redco::report
