#pragma once

#include <redco/report/run_request.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/cost/setup.hpp>
#include <redco/options/value_text.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/zero.hpp>

#include <string>

namespace redco::report::detail {

/// Returns the batch size and sequence length of a run as text: "16 x 256". If the encoder's input
/// has its own length: "16 x 256 that read 16 x 512".
inline std::string examples_text(workload const& load) {
  std::string const count = std::to_string(load.batch) + " x ", text = count + std::to_string(load.sequence);
  return load.source > 0 ? text + " that read " + count + std::to_string(load.source) : text;
}

/// Returns the text "blocks recomputed", or, if only some blocks are recomputed in backward, a text
/// such as "blocks recomputed (every:2)".
inline std::string recomputed_text(recomputed_blocks const& blocks) {
  std::string const all = "blocks recomputed";
  return blocks == recomputed_blocks(true) ? all : all + " (" + options::to_text(blocks) + ")";
}

/// Returns the number of hosts (machines) as text to append to a mesh: " on 2 hosts", or an empty
/// text for one host.
inline std::string hosts_text(int hosts) { return hosts > 1 ? " on " + std::to_string(hosts) + " hosts" : ""; }

/// Returns " on the same 16 ranks" if the number of ranks stays constant when the number of model
/// shards changes, otherwise an empty text.
inline std::string widths_scope(run_request const& asked) {
  return asked.keeps_ranks() ? " on the same " + std::to_string(asked.mesh.ranks()) + " ranks" : "";
}

/// Returns the settings of ZeRO of a run as text, such as "zero 3 in groups of 2 replicas, 1 block
/// kept".
inline std::string zero_text(cost::setup const& s) {
  int const replicas = s.mesh.size(shape::batch_axes), sharing = s.mesh.size(s.zero.shared_over & shape::batch_axes);
  return "zero " + std::to_string(s.zero.level) +
         (s.zero.owner == shape::zero_owner::whole ? " with whole matrices" : "") +
         (sharing < replicas ? " in groups of " + std::to_string(sharing) + " replicas" : "") +
         (s.zero.keep > 0 ? ", " + std::to_string(s.zero.keep) + (s.zero.keep == 1 ? " block" : " blocks") + " kept"
                          : "");
}

/// Returns a line of text that describes the run of a report: "mesh 1x2, f32, adamw, 1 micro-batch
/// of 16 x 256".
inline std::string run_text(shard_report const& r) {
  cost::setup const& s = r.run;
  return "mesh " + options::to_text(s.mesh) + hosts_text(s.hosts) + ", " + std::string(name_of(s.compute)) + ", " +
         r.optimizer + ", " + std::to_string(s.micro_batches) +
         (s.micro_batches == 1 ? " micro-batch of " : " micro-batches of ") + examples_text(s.load) +
         (s.recompute.any() ? ", " + recomputed_text(s.recompute) : "") + (s.zero.level > 0 ? ", " + zero_text(s) : "");
}

inline std::string copies_text(shard::entry const& e) {
  return e.fact.copies() > 1 ? " x" + std::to_string(e.fact.copies()) : "";
}

/// Returns the split of a parameter as text: "dim 0", "dim 0, shared by 2" (ranks), or "none".
/// Names a mesh axis if it is not tp: "dim 0 over ep, dim 1".
inline std::string split_text(shard::entry const& e) {
  std::string text;
  for (shape::place const& p : e.fact.places) {
    if (p.dim < 0) continue;
    text += (text.empty() ? "dim " : ", dim ") + std::to_string(p.dim);
    if (p.axis != shape::axis::tp) text += " over " + std::string(name_of(p.axis));
    if (int const n = e.sharers(p.axis); n > 1) text += ", shared by " + std::to_string(n);
  }
  return text.empty() ? "none" : text;
}

/// Returns a text to append to totals of memory or operations that omit some layers, because these
/// layers do not state what they save and compute. Returns an empty text if no layer is omitted.
inline std::string uncounted_text(shard_report const& r) {
  return r.counts_all() ? "" : " without the layers that are not counted";
}

/// Returns the name of a layer in the table of activations, or "outside of named layers" if the
/// name is empty.
inline std::string layer_text(cost::layer_activations const& one) {
  return one.layer.size == 0 ? "outside of named layers" : std::string(one.layer.view());
}

}  // namespace redco::report::detail
