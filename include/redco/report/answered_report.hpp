#pragma once

#include <redco/report/report_answer.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/shard_report.hpp>

#include <redco/cost/cost_of.hpp>

#include <redco/shard/plan.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace redco::report::detail {

/// Sets the predicted step time in `answer`. The prediction uses speeds in the file `machine`,
/// written by `redco-plan --calibrate`. If the file does not exist or lacks a needed speed, sets
/// the reason instead.
void predict_step(report_answer& answer, shard_report const& report, std::filesystem::path const& machine);

}  // namespace redco::report::detail

namespace redco::report {

/// Returns the report of a requested run with its answer (possible numbers of model shards,
/// smallest change that fits, step time). `machine` is a file written by `redco-plan --calibrate`,
/// which need not exist. Throws `error` with exit code 64 if the mesh cannot hold the model, and
/// with 65 if `machine` is no such file.
template <model M, class Optimizer>
shard_report answered_report(M const& m, Optimizer const& optimizer, run_request const& asked, std::int64_t budget,
                             std::filesystem::path const& machine = {}) {
  check_mesh(shard::facts_of(m).parameters, asked);
  shard_report report = report_of(m, optimizer, setup_of(asked), budget);
  report_answer answer{asked, {}};
  for (int const width : shard::legal_widths(shard::facts_of(m).parameters))
    if (auto const one = with_shards(asked, width))
      answer.widths.push_back({one->mesh, cost::cost_of(m, optimizer, setup_of(*one)).memory.peak()});
  if (!report.fits()) answer.change = smallest_change(m, optimizer, asked, budget);
  detail::predict_step(answer, report, machine);
  report.answer = answer;
  return report;
}

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/answered_report.inl.hpp>
#endif
