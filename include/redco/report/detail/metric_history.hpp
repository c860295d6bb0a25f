#pragma once

#include <redco/report/pictures/curves.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::report::detail {

/// The metrics of a run by name, read from the rows of metrics.jsonl. Keeps at most 16,384 points
/// of a metric, with the extremes of all rows.
class metric_history {
 public:
  /// Reads rows. Lines that are not rows of numbers, such as a half-written last line, add nothing.
  explicit metric_history(std::istream& rows) {
    for (std::string line; std::getline(rows, line);)
      if (parse(line)) add();
  }

  /// Returns the points of each metric, in the order in which the names first occur.
  std::vector<series> const& all() const { return all_; }

  /// Returns the points of the metric `name`, or nullptr.
  series const* find(std::string_view name) const {
    auto const at = std::find_if(all_.begin(), all_.end(), [&](series const& one) { return one.name == name; });
    return at == all_.end() ? nullptr : &*at;
  }

 private:
  static constexpr std::size_t most = 16'384;

  // Parses the members of a row, whose values are numbers or null. Names with escapes are refused.
  bool parse(std::string_view rest) {
    row_.clear();
    if (!rest.ends_with('}')) return false;
    rest.remove_suffix(1);
    for (char before = '{'; !rest.empty(); before = ',') {
      if (rest[0] != before || rest.size() < 2 || rest[1] != '"') return false;
      rest.remove_prefix(2);
      std::size_t const end = rest.find('"');
      if (end == std::string_view::npos || rest.find('\\') < end) return false;
      std::string_view const name = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (rest.empty() || rest[0] != ':') return false;
      rest.remove_prefix(1);
      double value = std::numeric_limits<double>::quiet_NaN();
      if (rest.starts_with("null")) {
        rest.remove_prefix(4);
      } else {
        auto const [stop, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (failure != std::errc{}) return false;
        rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
      }
      row_.emplace_back(name, value);
    }
    return !row_.empty() && row_.front().first == "step";
  }

  void add() {
    double const step = row_.front().second;
    for (std::size_t i = 1; i < row_.size(); ++i) {
      auto const& [name, value] = row_[i];
      if (name == "epoch") continue;
      // Rows repeat their names in one order, so the search starts after the last name.
      std::size_t at = 0;
      while (at < all_.size() && all_[(next_ + at) % all_.size()].name != name) ++at;
      if (at == all_.size()) {
        next_ = all_.size();
        all_.push_back({std::string(name), {}, {}});
      } else {
        next_ = (next_ + at) % all_.size();
      }
      series& one = all_[next_++];
      one.x.push_back(step);
      one.y.push_back(value);
      if (one.x.size() > most) one = thinned(one, most / 2);
    }
  }

  std::vector<std::pair<std::string_view, double>> row_;
  std::vector<series> all_;
  std::size_t next_ = 0;
};

}  // namespace redco::report::detail
