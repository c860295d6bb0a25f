#pragma once

#include <redco/report/answered_report.hpp>

#include <redco/cost/machine_file.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::report::detail {

REDCO_INLINE void predict_step(report_answer& answer, shard_report const& report,
                               std::filesystem::path const& machine) {
  if (machine.empty() || !std::filesystem::exists(machine)) {
    answer.untimed = "no machine was measured; run redco-plan --calibrate";
    return;
  }
  cost::machine const on = cost::read_machine(json::read_json(machine), machine.string());
  try {
    if (report.stages.empty()) {
      answer.step_seconds = cost::step_time_of(report.cost, report.run, on).total();
    } else {
      cost::pipeline_time const time = cost::pipeline_time_of(report.stages, report.run, on);
      answer.step_seconds = time.total();
      answer.idle_share = time.idle;
    }
  } catch (error const& e) {
    if (e.code() != exit_code::data) throw;
    answer.untimed = e.what();
  }
}

}  // namespace redco::report::detail
