#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/report/detail/picture.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// The layout of a picture with rows and columns of square cells and their names.
class cell_grid {
 public:
  /// Largest number of rows and of columns that a picture shows.
  static constexpr std::size_t most = 64;

  /// Places the cells below `top`. `right`: width that stays free at the right.
  cell_grid(std::vector<std::string> const& rows, std::vector<std::string> const& columns, double top, double right)
      : rows_(rows), columns_(columns) {
    double across = 12, up = 12;
    for (std::string const& name : rows) across = std::max(across, text_width(fitted(name, name_width)));
    for (std::string const& name : columns) up = std::max(up, text_width(fitted(name, name_width)));
    left_ = across + 12;
    double const count = static_cast<double>(std::max<std::size_t>({columns.size(), 1}));
    size_ = std::min(40.0, (picture_width - left_ - right) / count);
    upright_ = up > size_ - 4;
    top_ = top + (upright_ ? up : 12) + 8;
  }

  double size() const { return size_; }
  double left(std::size_t column) const { return left_ + size_ * static_cast<double>(column); }
  double top(std::size_t row) const { return top_ + size_ * static_cast<double>(row); }
  double bottom() const { return top(rows_.size()); }

  /// Returns a cell. `share`: share of the full colour, from 0 to 1. `says`: text that browsers
  /// show when the pointer is over the cell.
  std::string cell(std::size_t row, std::size_t column, double share, std::string_view says) const {
    int const percent = static_cast<int>(100 * std::clamp(share, 0.0, 1.0) + 0.5);
    return "<rect x=\"" + coordinate(left(column)) + "\" y=\"" + coordinate(top(row)) + "\" width=\"" +
           coordinate(size_) + "\" height=\"" + coordinate(size_) + "\" class=\"p-cell\" fill-opacity=\"" +
           (percent == 100 ? "1"
            : percent < 10 ? ".0"
                           : ".") +
           (percent == 100 ? "" : std::to_string(percent)) + "\"><title>" + escaped(says) + "</title></rect>";
  }

  /// Returns a text in the middle of a cell, or an empty text if the cell is too small. `share`:
  /// share of the cell's full colour.
  std::string cell_text(std::size_t row, std::size_t column, double share, std::string_view text) const {
    bool const small = text_width(text) > size_ - 2;
    if (text_width(text, small ? 9 : 11) > size_ - 2 || size_ < 13) return "";
    std::string const style = std::string("p-mid") + (small ? " p-small" : "") + (share > 0.55 ? " p-on" : "");
    return svg_text(left(column) + size_ / 2, top(row) + size_ / 2 + 4, text, style);
  }

  /// Returns the names of rows and columns, without those that would overlap others.
  std::string names() const {
    std::string text;
    std::size_t const row_step = every(12), column_step = every(upright_ ? 12 : 0);
    for (std::size_t row = 0; row < rows_.size(); row += row_step)
      text += svg_text(left_ - 5, top(row) + size_ / 2 + 4, fitted(rows_[row], name_width), "p-end") + "\n";
    for (std::size_t column = 0; column < columns_.size(); column += column_step) {
      std::string const name = fitted(columns_[column], name_width);
      double const x = left(column) + size_ / 2, y = top_ - 5;
      if (!upright_) {
        text += svg_text(x, y, name, "p-mid") + "\n";
      } else {
        std::string const at = coordinate(x + 4) + " " + coordinate(y);
        text += "<text x=\"" + coordinate(x + 4) + "\" y=\"" + coordinate(y) + "\" transform=\"rotate(-90 " + at +
                ")\">" + escaped(name) + "</text>\n";
      }
    }
    return text;
  }

  /// Returns the outline of all cells.
  std::string frame() const {
    return svg_rect(left_, top_, size_ * static_cast<double>(columns_.size()),
                    size_ * static_cast<double>(rows_.size()), "p-frame") +
           "\n";
  }

 private:
  static constexpr double name_width = 92;

  /// Returns the distance in cells between names that need `height` each.
  std::size_t every(double height) const { return size_ >= height ? 1 : static_cast<std::size_t>(height / size_) + 1; }

  std::vector<std::string> const& rows_;
  std::vector<std::string> const& columns_;
  double left_, top_, size_;
  bool upright_;
};

}  // namespace redco::report::detail
