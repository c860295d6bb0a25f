#pragma once

#include <redco/report/answer_text.hpp>
#include <redco/report/answered_report.hpp>
#include <redco/report/report_format.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/shard_report.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace redco::report {

/// A set of arguments of the CMake function redco_add_shard_report, which writes reports during a
/// build. Batch sizes count the examples of one step over all replicas.
struct build_report_request {
  std::string name = "report";
  std::string folder = ".";
  std::vector<mesh> meshes;
  workload load;
  /// Number of examples that a replica computes at once; 0: its whole share of the batch.
  std::int64_t micro_batch = 0;
  dtype compute = dtype::f32;
  recomputed_blocks recompute = {};
  std::int64_t budget = 0;  ///< Maximum bytes of memory per rank; 0: no limit
  /// Path of a file written by `redco-plan --calibrate`, used to predict the step time; empty:
  /// none.
  std::string machine = {};
  std::vector<report_format> formats;
};

}  // namespace redco::report

namespace redco::report::detail {

/// Writes a report in every requested format to the file FOLDER/NAME_<mesh>.<format>. Throws
/// `error` with exit code 74 if a file cannot be written.
void write_reports(build_report_request const& r, shard_report const& report);

/// Prints to standard error why the report of a mesh failed. Returns the larger of the exit codes
/// `before` (of earlier meshes) and `code`.
exit_code refused(build_report_request const& r, exit_code before, exit_code code, std::string const& why);

template <model M, class Optimizer>
exit_code build_reports(M const& m, Optimizer const& optimizer, build_report_request const& r) {
  exit_code worst = exit_code::done;
  auto const fail = [&](exit_code code, std::string const& why) { worst = refused(r, worst, code, why); };
  if (!models::has_encoder<models::net_of<M>> && r.load.source > 0) {
    fail(exit_code::usage, "SOURCE has no meaning for a model without an encoder before its decoder; leave it out");
    return worst;
  }
  for (mesh const& on : r.meshes) {
    try {
      run_request const asked{.mesh = on,
                              .load = r.load,
                              .micro_batch = r.micro_batch,
                              .compute = r.compute,
                              .recompute = r.recompute,
                              .form = request_form::cmake};
      shard_report const report = answered_report(m, optimizer, asked, r.budget, r.machine);
      write_reports(r, report);
      if (!report.fits()) fail(exit_code::missed, budget_text(report));
    } catch (error const& e) {
      fail(e.code(), e.what());
    }
  }
  return worst;
}

}  // namespace redco::report::detail

namespace redco::report {

/// Writes the report of a model for every mesh and format to a file NAME_<mesh>.<format>. Prints
/// advice to standard error: for an illegal mesh the legal numbers of model shards, for a mesh over
/// the budget the smallest change that fits. `Model` is an object with static storage. A second
/// overload takes a model type that needs no sizes.
///
/// Returns the exit code for main: 0, 1 (over the budget), 64 (illegal mesh) or 74 (I/O).
template <auto const& Model, class Optimizer>
int build_report(Optimizer const& optimizer, build_report_request const& request) {
  static_assert(
      model<std::remove_cvref_t<decltype(Model)>>,
      "redco_add_shard_report: MODEL is no redco model; name an object such as redco::gpt2 or redco::model_of");
  return static_cast<int>(detail::build_reports(Model, optimizer, request));
}
template <class Model, class Optimizer>
int build_report(Optimizer const& optimizer, build_report_request const& request) {
  static_assert(model<Model>, "redco_add_shard_report: MODEL is no redco model; name a type such as redco::model_of");
  return static_cast<int>(detail::build_reports(Model{}, optimizer, request));
}

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/build_report.inl.hpp>
#endif
