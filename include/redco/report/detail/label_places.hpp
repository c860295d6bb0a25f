#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// A set of positions of the labels in a drawing. A label that would overlap an earlier one moves
/// up, so that no labels overlap.
class label_places {
 public:
  /// Places a label that spans `left` to `left + width_of(text)`, and returns the y coordinate of
  /// its baseline: `y`, or less if the label must move up to avoid another label.
  double place(double left, double y, std::string_view text) {
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

}  // namespace redco::report::detail
