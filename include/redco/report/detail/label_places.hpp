#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// Places the labels of a drawing so that none covers another: a label that would do so moves up.
class label_places {
 public:
  /// Returns the baseline of a label whose text spans `left` to `left + width_of(text)` and whose
  /// baseline should be `y`.
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

  /// Baseline of the highest label.
  double highest() const {
    double y = 0;
    for (box const& one : placed_) y = std::min(y, one.y);
    return y;
  }

  /// Upper bound of the width of a text in semi-bold 11 px letters.
  static double width_of(std::string_view text) { return 7.2 * static_cast<double>(text.size()); }

 private:
  static constexpr double height = 13, gap = 5;

  struct box {
    double left, right, y;
  };
  std::vector<box> placed_;
};

}  // namespace redco::report::detail
