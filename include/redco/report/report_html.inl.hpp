#pragma once

#include <redco/report/report_html.hpp>

#include <redco/report/detail/html_answer.hpp>
#include <redco/report/detail/html_bytes.hpp>
#include <redco/report/detail/html_graph.hpp>
#include <redco/report/detail/html_parameters.hpp>
#include <redco/report/detail/html_phases.hpp>
#include <redco/report/detail/html_style.hpp>
#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/config.hpp>

namespace redco::report {

REDCO_INLINE std::string report_html(shard_report const& r, std::string const& title) {
  cost::setup const& s = r.run;
  std::string const name = report::detail::escaped(title), mesh = options::to_text(s.mesh);
  int const replicas = s.mesh.size(shape::batch_axes);
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      name + ", mesh " + mesh + "</title>\n" + std::string(report::detail::html_style) + "</head>\n<body>\n<h1>" +
      name + "</h1>\n<ul class=\"run\">\n";
  auto const item = [&](std::string const& what) { text += "<li>" + report::detail::escaped(what) + "</li>\n"; };
  item("mesh " + mesh + ": " + std::to_string(replicas) + (replicas == 1 ? " replica of " : " replicas of ") +
       std::to_string(s.mesh.tp) + (s.mesh.tp == 1 ? " shard" : " shards") + report::detail::hosts_text(s.hosts));
  item(std::string(name_of(s.compute)));
  item(r.optimizer);
  item(std::to_string(s.micro_batches) + (s.micro_batches == 1 ? " micro-batch of " : " micro-batches of ") +
       report::detail::examples_text(s.load));
  if (s.recompute.any()) item(report::detail::recomputed_text(s.recompute));
  text += "</ul>\n" + report::detail::html_answer(r) + report::detail::html_bytes(r) + report::detail::html_phases(r) +
          report::detail::html_graph(r) + report::detail::html_parameters(r) + report::detail::html_messages(r) +
          std::string(report::detail::html_script) + "</body>\n</html>\n";
  return text;
}

}  // namespace redco::report
