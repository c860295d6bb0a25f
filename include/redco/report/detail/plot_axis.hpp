#pragma once

#include <redco/log/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace redco::report::detail {

/// Returns true if a picture can show the value: a finite number whose differences are finite too.
inline bool is_plottable(double value) { return std::isfinite(value) && std::abs(value) <= 1e300; }

/// Returns the smallest step of the form 1, 2 or 5 times a power of ten that divides `span` into at
/// most `most` parts. Requires a positive span.
inline double round_step(double span, int most) {
  double const least = span / most, power = std::pow(10.0, std::floor(std::log10(least)));
  for (double const factor : {1.0, 2.0, 5.0})
    if (least <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

/// Returns the label of a tick. All ticks of an axis have as many decimals as their distance `step`
/// needs: "0.25", "40k", "1.5M", "2e-5".
inline std::string tick_text(double value, double step) {
  double const size = std::abs(value);
  if (size < step / 2) return "0";
  int const power = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  if (power < -4 || power >= 15) {
    int const digits = std::max(0, power - static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    char buffer[64];
    auto const end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, std::min(digits, 15)).ptr;
    std::string const text(buffer, end);
    std::size_t const mark = text.find('e');
    return text.substr(0, mark + 1) + std::to_string(power);
  }
  int const unit = power < 4 ? 0 : power / 3;
  double const scale = std::pow(1000.0, unit);
  int const decimals = static_cast<int>(std::ceil(-std::log10(step / scale) - 1e-9));
  return log::fixed_text(value / scale, std::clamp(decimals, 0, 12)) + (unit == 0 ? "" : std::string(1, " kMGT"[unit]));
}

/// An axis of a picture: a range of values, linear or logarithmic, with ticks at round numbers.
class plot_axis {
 public:
  /// Tick of an axis: its value, and the text of its label.
  struct tick {
    double value;
    std::string text;
  };

  /// Returns a linear axis from `low` to `high` with at most `most` + 1 ticks. With `outward`, the
  /// ends move out to the next ticks. With `whole`, all ticks are integers.
  static plot_axis linear(double low, double high, int most, bool outward, bool whole = false) {
    if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)) || high - low < 1e-290) {
      double const around = whole || std::abs(low) < 1e-280 ? 1 : 0.1 * std::abs(low);
      low -= around, high += around;
    }
    double step = round_step(high - low, most);
    if (whole) step = std::max(step, 1.0);
    double const first = outward ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9);
    double const last = outward ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
    plot_axis axis;
    axis.low_ = outward ? first * step : low;
    axis.high_ = outward ? last * step : high;
    for (int i = 0; first + i <= last && i <= 2 * most; ++i)
      axis.ticks_.push_back({(first + i) * step, tick_text((first + i) * step, step)});
    return axis;
  }

  /// Returns a logarithmic axis with at most `most` + 1 ticks, whose ends are powers of ten.
  /// Requires 0 < low <= high.
  static plot_axis logarithmic(double low, double high, int most) {
    int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
    int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
    if (first >= last) last = first + 1;
    int const every = (last - first + most - 1) / most;
    last = first + (last - first + every - 1) / every * every;
    plot_axis axis;
    axis.log_ = true;
    axis.low_ = first, axis.high_ = last;
    for (int power = first; power <= last; power += every) {
      double const decade = std::pow(10.0, power);
      axis.ticks_.push_back({decade, tick_text(decade, decade)});
      if (last - first > 1 || power == last) continue;
      for (double const factor : {2.0, 5.0})
        axis.ticks_.push_back({factor * decade, tick_text(factor * decade, decade)});
    }
    return axis;
  }

  /// Returns the position of `value` on the axis: 0 at its low end, 1 at its high end.
  double position(double value) const { return ((log_ ? std::log10(value) : value) - low_) / (high_ - low_); }

  std::vector<tick> const& ticks() const { return ticks_; }

 private:
  double low_ = 0, high_ = 1;  ///< ends of the axis; their logarithms if the axis is logarithmic
  bool log_ = false;
  std::vector<tick> ticks_;
};

}  // namespace redco::report::detail
