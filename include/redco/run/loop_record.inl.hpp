#pragma once

#include <redco/run/loop_record.hpp>

#include <redco/run/run_state.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::run {

REDCO_INLINE void loop_record::begin(std::int64_t after_step) {
  row_begin_ = after_step;
  if (rank_.rank != 0) return;
  recorder_.emplace(where_.console(), where_.log(), where_.workdir(), after_step, "steps");
  recorder_->begin_loop(steps_, after_step);
}

REDCO_INLINE loop_record::mean_value& loop_record::found(std::string&& name) {
  auto at = std::find_if(row_.begin(), row_.end(), [&](mean_value const& one) { return one.name == name; });
  if (at == row_.end()) at = row_.insert(row_.end(), mean_value{std::move(name)});
  return *at;
}

REDCO_INLINE void loop_record::add(std::string name, double value) {
  mean_value& one = found(std::move(name));
  one.sum += value;
  ++one.count;
}

REDCO_INLINE void loop_record::set(std::string name, double value) {
  mean_value& one = found(std::move(name));
  one.sum = value;
  one.count = 1;
}

REDCO_INLINE void loop_record::updated(std::string const& network, step_result const& result) {
  if (rank_.rank != 0 || result.weight == 0) return;
  add(network + "/loss", result.loss);
  for (auto const& [term, value] : result.terms) add(network + "/" + term, value);
  set(network + "/lr", result.lr);
  set(network + "/grad_norm", result.grad_norm);
}

REDCO_INLINE void loop_record::end_step(std::int64_t step) {
  if (!recorder_ || (step - row_begin_ < log_every_ && step < steps_)) return;
  std::vector<std::pair<std::string, double>> values;
  for (mean_value& one : row_) {
    if (one.count == 0) continue;
    values.emplace_back(one.name, one.sum / static_cast<double>(one.count));
    one.sum = 0, one.count = 0;
  }
  recorder_->loop_step(step, step - row_begin_, values);
  row_begin_ = step;
}

REDCO_INLINE void loop_record::evaluated(options::metric_map& metrics, std::int64_t step) {
  broadcast_from_first(metrics, rank_.world, "an evaluation");
  best_.check(metrics);
  for (std::string& name : best_.update(metrics, step))
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(std::move(name));
  evaluation_ = metrics;
  if (!recorder_) return;
  recorder_->evaluation(metrics, step, {});
  where_.write_page();
  recorder_->resume_clock();
}

REDCO_INLINE void loop_record::describe(workdir::fit_record& run) const {
  run.evaluation = evaluation_;
  run.best = best_.best();
  if (!recorder_) return;
  run.files = recorder_->files();
  run.lost_rows = recorder_->lost();
}

}  // namespace redco::run
