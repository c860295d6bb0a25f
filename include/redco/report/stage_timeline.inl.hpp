#pragma once

#include <redco/report/stage_timeline.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/stages_text.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/log/text.hpp>
#include <redco/config.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// The table of one pipeline stage in a timeline.
class stage_lines {
 public:
  /// `time_text` returns a time of the simulated course as text.
  template <class TimeText>
  stage_lines(cost::stage_cost const& stage, std::vector<cost::stage_moment> const& moments,
              std::vector<std::int64_t> const& starts, std::vector<std::int64_t> const& durations,
              TimeText const& time_text)
      : stage_(stage), throughout_(stage.cost.memory.persistent()) {
    for (cost::stage_moment const& one : moments) most_ = std::max({most_, one.bytes(), one.at_arrival});
    line({"begins", "ends", "work", "micro-batch", "blocks", "activations", "recomputed", "gradients", "loss",
          "between stages", "total"},
         false);
    std::int64_t now = 0;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      cost::stage_moment const& one = moments[i];
      begins_ = time_text(now), ends_ = time_text(starts[i]);
      if (starts[i] > now) row(one, "wait", one.from < 0 ? "" : "for stage " + std::to_string(one.from));
      begins_ = ends_;
      if (one.from >= 0)
        row(one, "receive", std::to_string(one.received) + " from stage " + std::to_string(one.from), one.at_arrival);
      now = starts[i] + durations[i];
      ends_ = time_text(now);
      compute(one);
      begins_ = ends_;
      if (one.to >= 0) row(one, "send", std::to_string(one.sent) + " to stage " + std::to_string(one.to));
    }
  }

  std::string const& text() const { return text_; }

 private:
  using cells = std::array<std::string, 11>;

  void line(cells const& all, bool peak) {
    text_ += padded_left(all[0], 10) + padded_left(all[1], 10) + "  " + padded(all[2], 9) + padded_left(all[3], 11) +
             padded_left(all[4], 9);
    for (std::size_t i = 5; i < all.size(); ++i) text_ += padded_left(all[i], i == 9 ? 16 : 13);
    text_ += peak ? "  peak\n" : "\n";
  }

  /// Adds a line without a computation. `total`: bytes of a rank besides those throughout the step;
  /// 0 to leave them out.
  void row(cost::stage_moment const& one, std::string_view work, std::string const& what, std::int64_t total = 0) {
    text_ += padded_left(begins_, 10) + padded_left(ends_, 10) + "  " + padded(std::string(work), 9) +
             padded_left(std::to_string(one.computation.micro), 11) + "  " + what;
    if (total > 0) text_ += ", total " + std::to_string(throughout_ + total) + (is_peak(total) ? "  peak" : "");
    text_ += "\n";
  }

  void compute(cost::stage_moment const& one) {
    auto const chunk = std::find_if(stage_.chunks.begin(), stage_.chunks.end(),
                                    [&](auto const& of) { return of.index == one.computation.chunk; });
    line({begins_, ends_, std::string(work_text(one.computation.work)), std::to_string(one.computation.micro),
          range_text(chunk->blocks), std::to_string(one.activations), std::to_string(one.recomputed),
          std::to_string(one.gradients), std::to_string(one.loss), std::to_string(one.transfers),
          std::to_string(throughout_ + one.bytes())},
         is_peak(one.bytes()));
  }

  /// Returns true for the first line with the largest total.
  bool is_peak(std::int64_t bytes) {
    bool const first = !marked_ && bytes == most_;
    marked_ = marked_ || first;
    return first;
  }

  static std::string_view work_text(schedule::stage_work work) {
    switch (work) {
      case schedule::stage_work::forward: return "forward";
      case schedule::stage_work::backward: return "backward";
      case schedule::stage_work::input_gradients: return "inputs";
      case schedule::stage_work::weight_gradients: return "weights";
    }
    return "";
  }

  cost::stage_cost const& stage_;
  std::int64_t throughout_, most_ = 0;
  bool marked_ = false;
  std::string begins_, ends_, text_;
};

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string stage_timeline_text(fact::program const& facts, optimizer::demands const& demands,
                                             cost::setup const& run, cost::machine const* on) {
  std::vector<cost::stage_cost> const stages = cost::stage_costs(facts, demands, run);
  std::vector<std::vector<cost::stage_moment>> const moments = cost::stage_moments(facts, demands, run);
  schedule::pipeline_run const course =
      on != nullptr ? cost::pipeline_course_of(stages, run, *on) : cost::pipeline_course_of(stages, run);
  auto const time_text = [&](std::int64_t time) {
    if (on != nullptr) return detail::seconds_text(static_cast<double>(time) * cost::seconds_per_unit);
    return log::fixed_text(100 * static_cast<double>(time) / static_cast<double>(course.makespan), 1) + " %";
  };
  std::string text;
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    text += "stage " + std::to_string(stage) + ": bytes of one rank, of which " +
            std::to_string(stages[stage].cost.memory.persistent()) + " throughout the step\n" +
            detail::stage_lines(stages[stage], moments[stage], course.starts[stage], course.durations[stage], time_text)
                .text() +
            (stage + 1 < stages.size() ? "\n" : "");
  return text;
}

}  // namespace redco::report
