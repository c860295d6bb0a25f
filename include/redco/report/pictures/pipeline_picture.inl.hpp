#pragma once

#include <redco/report/pictures/pipeline_picture.hpp>

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/picture.hpp>
#include <redco/log/text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::report::detail {

/// Returns the opacity of a computation's box: forwards are light, gradients of weights dark.
inline std::string_view shade_of(schedule::stage_work work) {
  switch (work) {
    case schedule::stage_work::forward: return "0.25";
    case schedule::stage_work::input_gradients: return "0.55";
    case schedule::stage_work::backward: return "0.7";
    case schedule::stage_work::weight_gradients: return "0.9";
  }
  return "1";
}

inline std::string idle_text(schedule::pipeline_run const& run) { return log::fixed_text(100 * run.idle(), 1) + "%"; }

inline std::string in_flight_text(schedule::pipeline_run const& run) {
  std::string text;
  for (int const one : run.in_flight) text += (text.empty() ? "" : ", ") + std::to_string(one);
  return text;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string pipeline_picture(schedule::pipeline_table const& table, schedule::pipeline_run const& run,
                                          std::string const& title) {
  constexpr double left = 22, right = 6, top = 40;
  double const height = std::clamp(160.0 / static_cast<double>(table.stages()), 6.0, 16.0);
  double const scale =
      (detail::picture_width - left - right) / static_cast<double>(std::max<std::int64_t>(run.makespan, 1));
  bool numbered = false;
  std::string const says = "idle " + detail::idle_text(run) + ", chunks in flight " + detail::in_flight_text(run);
  std::string inside = detail::picture_title(title) +
                       detail::svg_text(6, 30, detail::fitted(says, detail::picture_width - 12), "p-soft") + "\n";
  for (std::size_t stage = 0; stage < table.stages(); ++stage) {
    double const y = top + static_cast<double>(stage) * height;
    if (height >= 10)
      inside += detail::svg_text(left - 4, y + height - 4, std::to_string(stage), "p-soft p-small p-end");
    for (std::size_t i = 0; i < run.starts[stage].size(); ++i) {
      schedule::stage_op const& one = table.of_stage[stage][i];
      double const x = left + scale * static_cast<double>(run.starts[stage][i]);
      double const width = scale * static_cast<double>(run.durations[stage][i]);
      inside += "<g><title>" + schedule::text_of(one) + "</title><g opacity=\"" +
                std::string(detail::shade_of(one.work)) + "\">" +
                detail::svg_rect(x + 0.2, y + 0.5, std::max(width - 0.4, 0.2), height - 1, "p-cell") + "</g>";
      std::string const number = std::to_string(one.micro);
      bool const dark = one.work != schedule::stage_work::forward;
      if (height >= 10 && width >= detail::text_width(number, 9) + 1) {
        numbered = true;
        inside +=
            detail::svg_text(x + width / 2, y + height - 4, number, dark ? "p-small p-mid p-on" : "p-small p-mid");
      }
      inside += "</g>";
    }
    inside += "\n";
  }
  double const bottom = top + static_cast<double>(table.stages()) * height;
  inside += detail::svg_rect(left, top, detail::picture_width - left - right, bottom - top, "p-frame") + "\n" +
            detail::svg_text(6, bottom + 14,
                             numbered ? "light: forward; dark: gradients; numbers: micro-batches"
                                      : "light: forward; dark: gradients",
                             "p-soft") +
            "\n";
  return detail::picture(bottom + 22, title + ": " + says, inside);
}

REDCO_INLINE std::string pipeline_text(schedule::pipeline_table const& table, schedule::pipeline_run const& run,
                                       std::string const& title) {
  constexpr std::size_t most = 24;
  std::string text = title + ":\n";
  for (std::size_t stage = 0; stage < table.stages(); ++stage) {
    auto const& list = table.of_stage[stage];
    text += "  stage " + std::to_string(stage) + ":";
    for (std::size_t i = 0; i < std::min(list.size(), most); ++i) text += " " + schedule::text_of(list[i]);
    text += list.size() > most ? " ...\n" : "\n";
  }
  return text + "  idle " + detail::idle_text(run) + " of " + std::to_string(run.makespan) +
         " units of time; chunks in flight per stage: " + detail::in_flight_text(run) + "\n";
}

}  // namespace redco::report
