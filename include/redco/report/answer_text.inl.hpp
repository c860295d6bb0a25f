#pragma once

#include <redco/report/answer_text.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/report/step_memory.hpp>
#include <redco/options/value_text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace redco::report {

REDCO_INLINE std::string fit_text(shard_report const& r) {
  std::int64_t const peak = r.cost.memory.peak();
  std::string const mesh = "mesh " + options::to_text(r.run.mesh);
  if (r.fits())
    return mesh + ": fits, " + detail::bytes_text(peak) + " of " + detail::bytes_text(r.budget) + " on every rank";
  return mesh + ": does not fit, a rank holds " + detail::bytes_text(peak) + " in " +
         std::string(peak_moment(r.cost.memory).phase) + ", " + detail::bytes_text(peak - r.budget) +
         " more than the budget of " + detail::bytes_text(r.budget);
}

REDCO_INLINE std::string largest_text(shard_report const& r) {
  step_moment const peak = peak_moment(r.cost.memory);
  auto const lines = memory_lines(r.cost.memory);
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return peak.bytes[a] > peak.bytes[b]; });
  std::string text;
  for (std::size_t i = 0; i < 3 && peak.bytes[order[i]] > 0; ++i)
    text += (i > 0 ? ", " : "") + std::string(lines[order[i]].kind) + " " + detail::bytes_text(peak.bytes[order[i]]);
  return text;
}

REDCO_INLINE std::string change_text(shard_report const& r) {
  report_answer const& answer = r.answer.value();
  if (answer.change)
    return answer.change->description + " (" + answer.change->options + "), " +
           detail::bytes_text(answer.change->peak) + " on every rank";
  int most = r.run.mesh.tp;
  for (legal_width const& one : answer.widths) most = std::max(most, one.mesh.tp);
  bool const keeps = answer.asked.keeps_ranks();
  return "none; " + std::to_string(most) + (most == 1 ? " model shard" : " model shards") +
         (keeps ? " on the same " + std::to_string(r.run.mesh.ranks()) + " ranks" : "") +
         " with bf16, micro-batches of one example and recomputation are too large: take " +
         (keeps ? "more ranks, " : "") + "a smaller model, a shorter sequence or more memory";
}

REDCO_INLINE std::string step_time_text(shard_report const& r) {
  report_answer const& answer = r.answer.value();
  if (!answer.step_seconds) return "not predicted: " + answer.untimed;
  std::string idle;
  if (answer.idle_share)
    idle = ", stages idle " + std::to_string(static_cast<int>(100 * *answer.idle_share + 0.5)) + " %";
  return detail::seconds_text(*answer.step_seconds) + ", predicted for the measured machine" + idle;
}

REDCO_INLINE std::string answer_text(shard_report const& r) {
  report_answer const& answer = r.answer.value();
  std::string text = "model shards and what a rank holds at most" + detail::widths_scope(answer.asked) + "\n";
  for (legal_width const& one : answer.widths)
    text += detail::padded_left(std::to_string(one.mesh.tp), 4) +
            detail::padded_left(detail::bytes_text(one.peak), 12) +
            (r.budget == 0          ? ""
             : one.peak <= r.budget ? "  fits"
                                    : "  does not fit") +
            "\n";
  text += "time of a step: " + step_time_text(r) + "\n";
  return r.budget == 0 ? text : text + budget_text(r) + "\n";
}

}  // namespace redco::report
