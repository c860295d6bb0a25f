#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// Assigns positions to the labels of a drawing so that no labels overlap: a label that would
/// overlap another one moves up.
class label_places {
 public:
  /// Returns the baseline for a label that spans `left` to `left + width_of(text)` and should have
  /// the baseline `y`.
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

  /// Returns the baseline of the highest label.
  double highest() const {
    double y = 0;
    for (box const& one : placed_) y = std::min(y, one.y);
    return y;
  }

  /// Returns an upper bound of the width of a text in pixels, for semi-bold 11 px letters.
  static double width_of(std::string_view text) { return 7.2 * static_cast<double>(text.size()); }

 private:
  static constexpr double height = 13, gap = 5;

  struct box {
    double left, right, y;
  };
  std::vector<box> placed_;
};

}  // namespace redco::report::detail
