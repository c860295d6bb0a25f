#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/numbers.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/report/step_memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// A set of positions of the labels in a drawing. A label that would overlap an earlier one moves
/// up, so that no labels overlap.
class label_positions {
 public:
  /// Adds a label that spans `left` to `left + width_of(text)`, and returns the y coordinate of
  /// its baseline: `y`, or less if the label must move up to avoid another label.
  double add(double left, double y, std::string_view text) {
    double const right = left + width_of(text) + gap;
    bool moved = true;
    while (moved) {
      moved = false;
      for (box const& other : placed_)
        if (left < other.right && other.left < right && y > other.y - height && y < other.y + height)
          y = other.y - height, moved = true;
    }
    placed_.push_back({left, right, y});
    return y;
  }

  /// Returns the smallest y coordinate of all labels' baselines, but at most 0.
  double highest() const {
    double y = 0;
    for (box const& one : placed_) y = std::min(y, one.y);
    return y;
  }

  /// Returns an upper bound of the width of a label's text in pixels, for semi-bold letters of 11
  /// px.
  static double width_of(std::string_view text) { return 7.2 * static_cast<double>(text.size()); }

 private:
  static constexpr double height = 13, gap = 5;

  struct box {
    double left, right, y;
  };
  std::vector<box> placed_;
};

/// A point in the drawing of memory over a step: the x coordinate and the index of the memory
/// snapshot shown there. The drawing shows forward and backward as slopes, loss and update as
/// constant.
struct phase_point {
  double x;
  std::size_t moment;
};
inline constexpr std::array<phase_point, 9> phase_points = {
    {{0, 0}, {112, 1}, {124, 2}, {154, 2}, {166, 3}, {226, 4}, {300, 5}, {314, 6}, {360, 6}}};
inline constexpr std::array<double, 5> phase_edges = {0, 118, 160, 307, 360};

/// A peak of a phase (such as backward) in the drawing of memory over a step: the position of its
/// circle, and the baseline and text of its label. The label is centred above the circle or, if
/// `ends` is true, ends left of the circle.
struct phase_peak {
  double x, y, label;
  std::string text;
  bool ends;
};

/// Returns the peaks of all phases for the drawing of memory over a step. Coordinates count from
/// the upper left corner of the plot, and labels do not overlap. `y_of` maps bytes to the distance
/// from the top.
template <class Height>
std::vector<phase_peak> phase_peaks(shard_report const& r, Height const& y_of, label_positions& labels) {
  auto const moments = step_moments(r.cost.memory);
  std::vector<phase_peak> peaks;
  std::size_t last = moments.size();
  for (phase_point const& p : phase_points) {
    step_moment const& m = moments[p.moment];
    if (!m.most || p.moment == last) continue;
    last = p.moment;
    bool const wide = m.event == "holds most" && m.phase != "backward", ends = m.phase == "forward";
    double const x = p.x + (wide ? (m.phase == "loss" ? 15 : 23) : 0), y = y_of(static_cast<double>(m.total()));
    std::string const text = bytes_text(m.total());
    double const width = label_positions::width_of(text), from = ends ? x - 6 - width : x - width / 2;
    peaks.push_back({x, y, labels.add(from, y - 8, text), text, ends});
  }
  return peaks;
}

/// Returns the HTML report's drawing of memory over the phases of a step: one stacked area per kind
/// of bytes, and a mark at the peak of each phase.
inline std::string html_phases(shard_report const& r) {
  auto const moments = step_moments(r.cost.memory);
  double const left = 62, width = 360, height = 190;
  double most = static_cast<double>(std::max<std::int64_t>(r.cost.memory.peak(), 1));
  most = std::max(most, static_cast<double>(r.budget) < 2 * most ? static_cast<double>(r.budget) : 0);
  auto const below_top = [&](double bytes) { return height - bytes / most * height; };
  bool const shows_budget = r.budget > 0 && static_cast<double>(r.budget) <= most;
  std::string const budget = "budget " + bytes_text(r.budget);
  label_positions labels;
  double const budget_label = shows_budget ? labels.add(4, below_top(static_cast<double>(r.budget)) - 5, budget) : 0;
  auto const peaks = phase_peaks(r, below_top, labels);
  double const top = std::max(24.0, 12 - labels.highest()), bottom = top + height;
  auto const y_of = [&](double bytes) { return top + below_top(bytes); };

  std::string inside;
  for (int part = 0; part <= 4; ++part) {
    double const y = y_of(most * part / 4);
    inside += svg_path("M" + coordinate(left) + " " + coordinate(y) + "h" + coordinate(width), "axis") +
              svg_text(left - 6, y + 4, bytes_text(static_cast<std::int64_t>(most * part / 4)), "soft end") + "\n";
  }
  std::array<double, phase_points.size()> below{};
  for (std::size_t kind = 0; kind < moments[0].bytes.size(); ++kind) {
    std::string forth, back;
    bool any = false;
    for (std::size_t p = 0; p < phase_points.size(); ++p) {
      double const bytes = static_cast<double>(moments[phase_points[p].moment].bytes[kind]);
      std::string const x = coordinate(left + phase_points[p].x);
      back = "L" + x + " " + coordinate(y_of(below[p])) + back;
      below[p] += bytes;
      forth += (p == 0 ? "M" : "L") + x + " " + coordinate(y_of(below[p]));
      any = any || bytes > 0;
    }
    if (any) inside += svg_path(forth + back + "Z", "k" + std::to_string(kind)) + "\n";
  }
  std::array<char const*, 4> const names = {"forward", "loss", "backward", "update"};
  for (std::size_t phase = 0; phase < names.size(); ++phase) {
    double const from = left + phase_edges[phase], to = left + phase_edges[phase + 1];
    inside += svg_text((from + to) / 2, bottom + 18, names[phase], "mid") + "\n";
    if (phase > 0)
      inside += svg_path("M" + coordinate(from) + " " + coordinate(top) + "V" + coordinate(bottom + 6), "axis") + "\n";
  }
  for (phase_peak const& p : peaks)
    inside +=
        "<circle cx=\"" + coordinate(left + p.x) + "\" cy=\"" + coordinate(top + p.y) +
        "\" r=\"3.5\" class=\"peak\"/>" +
        svg_text(left + p.x - (p.ends ? 6 : 0), top + p.label, p.text, p.ends ? "strong halo end" : "strong halo mid") +
        "\n";
  if (shows_budget) {
    std::string const y = coordinate(y_of(static_cast<double>(r.budget)));
    inside += svg_path("M" + coordinate(left) + " " + y + "h" + coordinate(width), "budget") +
              svg_text(left + 4, top + budget_label, budget, "over halo") + "\n";
  }
  std::string text =
      "<h2>Memory over a step</h2>\n<p>One micro-batch, on one rank. Circles mark the most of each phase";
  if (r.cost.memory.backward.layer.size > 0)
    text += "; backward holds most at <code>" + escaped(r.cost.memory.backward.layer.view()) + "</code>";
  return text + ". Between computed moments the lines are straight. Colours as above.</p>\n" +
         "<div class=\"narrow\">\n" +
         svg(left + width + 8, bottom + 26, "bytes of one rank over forward, loss, backward and update", inside) +
         "</div>\n";
}

}  // namespace redco::report::detail
