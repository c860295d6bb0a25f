#pragma once

#include <redco/meta/enum_texts.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <numbers>
#include <utility>

namespace redco {

/// A learning-rate schedule: rises linearly from 0 to `peak` over the first `warmup` steps, then
/// stays at `peak`.
struct constant {
  double peak = 1e-3;
  std::int64_t warmup = 0;
};

/// A learning-rate schedule: rises linearly from 0 to `peak` over the first `warmup` steps, then
/// falls linearly to 0 at step `total`. If `total` is 0, the number of steps of the run is used.
/// Source: get_linear_schedule_with_warmup of transformers. The name is not `linear`, because a
/// layer type has this name.
struct linear_decay {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t total = 0;
};

/// A learning-rate schedule: rises linearly from 0 to `peak` over the first `warmup` steps, then
/// falls along half a cosine to `floor` at step `total`. If `total` is 0, the number of steps of
/// the run is used. With `floor` = 0, equals get_cosine_schedule_with_warmup of transformers.
struct cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  double floor = 0;
  std::int64_t total = 0;
};

/// A learning-rate schedule of two half cosines over `total` steps. If `total` is 0, the number of
/// steps of the run is used. The rate rises from peak / div to `peak` during the first fraction
/// `rise` of the steps, then falls to peak / div / final_div at the last step.
///
/// Source: torch's OneCycleLR with its defaults; Smith and Topin, Super-convergence, 2017.
struct one_cycle {
  double peak = 1e-3;
  double rise = 0.3;
  double div = 25;
  double final_div = 1e4;
  std::int64_t total = 0;
};

}  // namespace redco

namespace redco::optimizer {

/// Shape of a learning-rate schedule: the member `kind` of `learning_rate`.
enum class schedule_kind { constant, linear_decay, cosine, one_cycle, function };
inline constexpr auto schedule_texts = meta::enum_texts<schedule_kind>({
    {schedule_kind::constant, "constant"},
    {schedule_kind::linear_decay, "linear_decay"},
    {schedule_kind::cosine, "cosine"},
    {schedule_kind::one_cycle, "one_cycle"},
    {schedule_kind::function, "function"},
});

/// A learning rate as a function of the step: a schedule, a number, or a captureless function
/// (step, number of steps of the run) -> rate. A structural type, so that optimizer settings can be
/// template arguments; with g++ 12 only if no function is held. For functions with captures see
/// `scheduled`.
struct learning_rate {
  using function_type = double (*)(std::int64_t, std::int64_t);

  schedule_kind kind = schedule_kind::constant;
  double peak = 0;
  double start = 0;
  double floor = 0;
  double rise = 0;
  std::int64_t warmup = 0;
  std::int64_t total = 0;
  function_type function = nullptr;

  constexpr learning_rate(double rate) : peak(rate) {}
  constexpr learning_rate(constant const& s) : peak(s.peak), warmup(s.warmup) {}
  constexpr learning_rate(linear_decay const& s)
      : kind(schedule_kind::linear_decay), peak(s.peak), warmup(s.warmup), total(s.total) {}
  constexpr learning_rate(cosine const& s)
      : kind(schedule_kind::cosine), peak(s.peak), floor(s.floor), warmup(s.warmup), total(s.total) {}
  constexpr learning_rate(one_cycle const& s)
      : kind(schedule_kind::one_cycle),
        peak(s.peak),
        start(s.peak / s.div),
        floor(s.peak / s.div / s.final_div),
        rise(s.rise),
        total(s.total) {}
  template <class Function>
    requires(std::convertible_to<Function, function_type> && !std::convertible_to<Function, double>)
  constexpr learning_rate(Function f) : kind(schedule_kind::function), function(f) {}

  /// Returns the learning rate of step `step` (from 0) in a training run of `run_steps` steps.
  /// After the last step of the schedule, the rate stays constant. Requires step >= 0.
  double at(std::int64_t step, std::int64_t run_steps) const {
    std::int64_t const end = total > 0 ? total : run_steps;
    if (kind == schedule_kind::function) return function(step, end);
    if (kind == schedule_kind::one_cycle) return cycle(step, end);
    if (step < warmup) return peak * (static_cast<double>(step) / static_cast<double>(warmup));
    if (kind == schedule_kind::constant) return peak;
    if (step >= end) return floor;
    double const length = static_cast<double>(end - warmup);
    if (kind == schedule_kind::linear_decay) return peak * (static_cast<double>(end - step) / length);
    return fall(peak, floor, static_cast<double>(step - warmup) / length);
  }

  friend constexpr bool operator==(learning_rate const&, learning_rate const&) = default;

 private:
  static double fall(double from, double to, double part) {
    return to + (from - to) * (0.5 * (1 + std::cos(std::numbers::pi * part)));
  }

  double cycle(std::int64_t step, std::int64_t end) const {
    double const top = std::max(rise * static_cast<double>(end) - 1, 0.0);
    double const last = static_cast<double>(end - 1);
    double const now = std::min(static_cast<double>(step), last);
    if (now < top) return fall(start, peak, now / top);
    return last > top ? fall(peak, floor, (now - top) / (last - top)) : peak;
  }
};

/// An optimizer `Description` whose learning rate comes from any function (step from 0, number of
/// steps of the run) -> rate, with captures. The member `lr` is ignored. This type cannot be a
/// template argument; compute plans from the plain `Description` instead.
template <class Description>
struct scheduled : Description {
  std::function<double(std::int64_t, std::int64_t)> schedule;

  scheduled(Description description, std::function<double(std::int64_t, std::int64_t)> f)
      : Description(std::move(description)), schedule(std::move(f)) {}

  double learning_rate_at(std::int64_t step, std::int64_t run_steps) const { return schedule(step, run_steps); }
};

}  // namespace redco::optimizer
