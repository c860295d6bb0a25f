#pragma once

#include <redco/run/loop_record.hpp>

#include <redco/run/run_state.hpp>
#include <redco/ckpt/write_on_first.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/workdir/object_bytes.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::run {

REDCO_INLINE void loop_record::begin(std::int64_t after_step) {
  row_begin_ = after_step;
  ckpt::write_on_first(rank_.world, "opening the outputs of the run", where_.disk_limits(), [&] {
    recorder_.emplace(where_.console(), where_.log(), where_.workdir(), after_step, "steps");
    recorder_->begin_loop(steps_, after_step);
  });
}

REDCO_INLINE loop_record::mean_value& loop_record::found(mean_values& all, std::string const& name) {
  auto at = std::find_if(all.begin(), all.end(), [&](mean_value const& one) { return one.name == name; });
  if (at == all.end()) at = all.insert(all.end(), mean_value{name});
  return *at;
}

REDCO_INLINE void loop_record::add(mean_values& all, std::string const& name, double value) {
  mean_value& one = found(all, name);
  one.sum += value;
  ++one.count;
}

REDCO_INLINE void loop_record::set(std::string const& name, double value) {
  mean_value& one = found(row_, name);
  one.sum = value;
  one.count = 1;
}

REDCO_INLINE void loop_record::updated(std::string const& network, step_result const& result) {
  if (rank_.rank != 0 || result.weight == 0) return;
  add(row_, network + "/loss", result.loss);
  for (auto const& [term, value] : result.terms) add(row_, network + "/" + term, value);
  set(network + "/lr", result.lr);
  set(network + "/grad_norm", result.grad_norm);
}

/// Adds the values that the replicas have logged since the last row to rank 0's row, in rank order.
REDCO_INLINE void loop_record::gather_logged() {
  std::vector<mean_values> of_ranks;
  if (rank_.mesh.size(shape::batch_axes) == 1) {
    of_ranks.push_back(std::exchange(logged_, {}));
  } else {
    comm::collective_label const label("logged values");
    std::string const own = workdir::object_bytes(std::exchange(logged_, {}));
    for (std::string const& bytes : comm::gather_texts(rank_.world, own))
      workdir::read_object(bytes, of_ranks.emplace_back(), "logged values");
  }
  if (rank_.rank != 0) return;
  for (mean_values const& values : of_ranks)
    for (mean_value const& value : values) {
      mean_value& one = found(row_, value.name);
      one.sum += value.sum;
      one.count += value.count;
    }
}

REDCO_INLINE void loop_record::end_step(std::int64_t step) {
  if (step - row_begin_ < log_every_ && step < steps_) return;
  gather_logged();
  std::vector<std::pair<std::string, double>> values;
  for (mean_value& one : row_) {
    if (one.count == 0) continue;
    values.emplace_back(one.name, one.sum / static_cast<double>(one.count));
    one.sum = 0, one.count = 0;
  }
  ckpt::write_on_first(rank_.world, "writing the metrics of step " + std::to_string(step), where_.disk_limits(), [&] {
    if (recorder_) recorder_->loop_step(step, step - row_begin_, values);
  });
  row_begin_ = step;
}

REDCO_INLINE void loop_record::saved() {
  ckpt::write_on_first(rank_.world, "writing the best metrics", where_.disk_limits(), [&] {
    if (recorder_) recorder_->save_best(best_);
  });
}

REDCO_INLINE void loop_record::evaluated(options::metric_map& metrics, std::int64_t step) {
  broadcast_from_first(metrics, rank_.world, "an evaluation");
  best_.check(metrics);
  for (std::string& name : best_.update(metrics, step))
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(std::move(name));
  evaluation_ = metrics;
  ckpt::write_on_first(rank_.world, "writing the results of step " + std::to_string(step), where_.disk_limits(), [&] {
    if (!recorder_) return;
    recorder_->evaluation(metrics, step, {});
    where_.write_page();
    recorder_->resume_clock();
  });
}

REDCO_INLINE void loop_record::describe(workdir::fit_record& run) const {
  run.evaluation = evaluation_;
  run.best = best_.best();
  if (!recorder_) return;
  run.files = recorder_->files();
  run.lost_rows = recorder_->lost();
}

}  // namespace redco::run
