#pragma once

#include <redco/report/pictures/curves.hpp>

#include <redco/report/detail/picture.hpp>
#include <redco/report/detail/plot_axis.hpp>
#include <redco/log/text.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace redco::report::detail {

/// The range of the values that a picture of curves shows.
struct plot_range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
};

/// The plot of a picture of curves: its rectangle and its axes.
struct plot {
  double left, top, width, height;
  plot_axis x, y;
  bool log_y;

  bool shows(double at, double value) const {
    return is_plottable(at) && is_plottable(value) && (!log_y || value > 1e-300);
  }
  std::pair<double, double> point(double at, double value) const {
    return {left + x.position(at) * width, top + (1 - y.position(value)) * height};
  }
};

/// Returns the curve of one series as a path that breaks at gaps. Points without neighbours, and
/// all points of a short series, are circles.
inline std::string curve(plot const& on, series const& one, std::size_t index) {
  std::string const colour = "p" + std::to_string(index % 6);
  std::string path, marks;
  std::size_t const count = one.x.size();
  auto const shown = [&](std::size_t i) { return i < count && on.shows(one.x[i], one.y[i]); };
  for (std::size_t i = 0; i < count; ++i) {
    if (!shown(i)) continue;
    auto const [x, y] = on.point(one.x[i], one.y[i]);
    bool const joined = i > 0 && shown(i - 1);
    path += (joined ? "L" : "M") + coordinate(x) + " " + coordinate(y);
    if (count <= 24 || (!joined && !shown(i + 1)))
      marks += "<circle cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) + "\" r=\"2\" class=\"" + colour + "\"/>";
  }
  std::string const style = "p-curve " + colour + (index >= 6 ? " p-dashed" : "");
  return (path.empty() ? "" : svg_path(path, style) + "\n") + (marks.empty() ? "" : marks + "\n");
}

/// Returns the grid and the labels of both axes of a plot.
inline std::string plot_frame(plot const& on, curve_options const& options) {
  std::string text;
  double const bottom = on.top + on.height, right = on.left + on.width;
  for (auto const& tick : on.y.ticks()) {
    double const y = on.top + (1 - on.y.position(tick.value)) * on.height;
    text += svg_path("M" + coordinate(on.left) + " " + coordinate(y) + "h" + coordinate(on.width), "p-grid") +
            svg_text(on.left - 5, y + 4, tick.text, "p-soft p-end") + "\n";
  }
  double free_from = 0;
  for (auto const& tick : on.x.ticks()) {
    double const x = on.left + on.x.position(tick.value) * on.width, half = text_width(tick.text) / 2;
    double const middle = std::min(x, picture_width - 2 - half);
    text += svg_path("M" + coordinate(x) + " " + coordinate(bottom) + "v4", "p-frame");
    if (middle - half < free_from) continue;
    free_from = middle + half + 8;
    text += svg_text(middle, bottom + 18, tick.text, "p-soft p-mid") + "\n";
  }
  text += svg_rect(on.left, on.top, on.width, on.height, "p-frame") + "\n";
  std::string const label = fitted(options.x_label, on.width);
  if (!label.empty()) text += svg_text((on.left + right) / 2, bottom + 33, label, "p-soft p-mid") + "\n";
  return text;
}

/// Returns the legend of a picture of curves, which starts below `y`, and moves `y` to its end.
inline std::string legend(std::vector<series> const& all, double& y) {
  std::string text;
  double x = 6;
  y += 15;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const last = std::find_if(all[i].y.rbegin(), all[i].y.rend(), is_plottable);
    std::string const value = last == all[i].y.rend() ? "none" : log::short_text(*last, 4);
    std::string const label = fitted(all[i].name, 180) + (all[i].name.empty() ? "last " : " ") + value;
    double const width = 22 + text_width(label) + 12;
    if (x > 6 && x + width > picture_width) x = 6, y += 15;
    std::string const style = "p-curve p" + std::to_string(i % 6) + (i >= 6 ? " p-dashed" : "");
    text += svg_path("M" + coordinate(x) + " " + coordinate(y - 4) + "h16", style) +
            svg_text(x + 22, y, label, "p-soft") + "\n";
    x += width;
  }
  return text;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE series thinned(series const& all, std::size_t most) {
  std::size_t const count = all.x.size();
  if (count <= most || most < 8) return all;
  series kept{all.name, {}, {}};
  auto const keep = [&](std::size_t i) {
    kept.x.push_back(all.x[i]);
    kept.y.push_back(all.y[i]);
  };
  std::size_t const parts = (most - 2) / 3, inner = count - 2;
  keep(0);
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t const begin = 1 + inner * part / parts, end = 1 + inner * (part + 1) / parts;
    std::size_t low = count, high = count, gap = count;
    for (std::size_t i = begin; i < end; ++i) {
      if (!detail::is_plottable(all.y[i])) gap = std::min(gap, i);
      else {
        if (low == count || all.y[i] < all.y[low]) low = i;
        if (high == count || all.y[i] > all.y[high]) high = i;
      }
    }
    std::size_t chosen[] = {low, high, gap};
    std::sort(std::begin(chosen), std::end(chosen));
    for (std::size_t k = 0; k < 3; ++k)
      if (chosen[k] < count && (k == 0 || chosen[k] != chosen[k - 1])) keep(chosen[k]);
  }
  keep(count - 1);
  return kept;
}

REDCO_INLINE std::string curves(std::vector<series> const& all, curve_options const& options) {
  constexpr std::size_t most_curves = 12;
  std::vector<series> drawn;
  for (series const& one : all) {
    if (one.x.size() != one.y.size())
      throw error(exit_code::internal, "the series \"" + one.name + "\" has " + std::to_string(one.x.size()) +
                                           " values of x and " + std::to_string(one.y.size()) +
                                           " of y: give as many of both");
    if (drawn.size() < most_curves) drawn.push_back(thinned(one, std::max<std::size_t>(options.most_points, 8)));
  }
  detail::plot_range xs, ys;
  bool whole = true;
  detail::plot on{0, 0, 0, 150, {}, {}, options.log_y};
  for (series const& one : drawn)
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      if (!on.shows(one.x[i], one.y[i])) continue;
      xs.add(one.x[i]);
      ys.add(one.y[i]);
      whole = whole && one.x[i] == std::floor(one.x[i]);
    }
  if (xs.low > xs.high)
    return detail::sentence_picture(options.title, options.log_y ? "no finite positive value" : "no finite value");
  on.y = options.log_y ? detail::plot_axis::logarithmic(ys.low, ys.high, 6)
                       : detail::plot_axis::linear(ys.low, ys.high, 5, true);
  if (xs.low > 0 && xs.low <= xs.high / 20) xs.low = 0;
  on.x = detail::plot_axis::linear(xs.low, xs.high, 6, false, whole);

  std::string inside = detail::picture_title(options.title);
  double y = 14;
  inside += detail::legend(drawn, y);
  if (all.size() > most_curves) {
    y += 15;
    inside += detail::svg_text(6, y, std::to_string(all.size() - most_curves) + " more are not shown", "p-soft") + "\n";
  }
  std::string const label = detail::fitted(options.y_label, detail::picture_width - 12);
  if (!label.empty()) {
    y += 15;
    inside += detail::svg_text(6, y, label, "p-soft") + "\n";
  }
  for (auto const& tick : on.y.ticks()) on.left = std::max(on.left, detail::text_width(tick.text) + 8);
  on.top = y + 12;
  on.width = detail::picture_width - 14 - on.left;
  inside += detail::plot_frame(on, options);
  std::string says = options.title + " over " + options.x_label;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    inside += detail::curve(on, drawn[i], i);
    says += (i == 0 ? ": " : ", ") + (drawn[i].name.empty() ? "one curve" : drawn[i].name);
  }
  return detail::picture(on.top + on.height + 41, says, inside);
}

}  // namespace redco::report
