#pragma once

#include <redco/report/pictures/heat_map.hpp>

#include <redco/report/detail/cell_grid.hpp>
#include <redco/report/detail/picture.hpp>
#include <redco/report/detail/plot_axis.hpp>
#include <redco/log/text.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace redco::report {

REDCO_INLINE std::string heat_map(std::span<double const> values, std::vector<std::string> const& rows,
                                  std::vector<std::string> const& columns, std::string const& title) {
  if (values.size() != rows.size() * columns.size())
    throw error(exit_code::internal, "a heat map of " + std::to_string(rows.size()) + " rows and " +
                                         std::to_string(columns.size()) + " columns has " +
                                         std::to_string(values.size()) + " values: give one for each cell");
  constexpr std::size_t most = detail::cell_grid::most;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (double const value : values)
    if (detail::is_plottable(value)) low = std::min(low, value), high = std::max(high, value);
  if (low > high) return detail::sentence_picture(title, "no finite value");
  std::vector<std::string> const down(rows.begin(), rows.begin() + std::ptrdiff_t(std::min(rows.size(), most)));
  std::vector<std::string> const across(columns.begin(),
                                        columns.begin() + std::ptrdiff_t(std::min(columns.size(), most)));
  detail::cell_grid const grid(down, across, 20, 8);
  std::string inside = detail::picture_title(title);
  for (std::size_t row = 0; row < down.size(); ++row)
    for (std::size_t column = 0; column < across.size(); ++column) {
      double const value = values[row * columns.size() + column];
      if (!detail::is_plottable(value)) {
        inside +=
            detail::svg_rect(grid.left(column) + 1, grid.top(row) + 1, grid.size() - 2, grid.size() - 2, "p-none");
        continue;
      }
      double const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
      std::string const number = log::short_text(value, 2);
      inside += grid.cell(row, column, share,
                          detail::fitted(down[row], 200) + ", " + detail::fitted(across[column], 200) + ": " + number) +
                grid.cell_text(row, column, share, number) + "\n";
    }
  inside += grid.frame() + grid.names();
  std::string note = "empty " + log::short_text(low, 3) + ", full " + log::short_text(high, 3);
  if (rows.size() > most)
    note += "; the first " + std::to_string(most) + " of " + std::to_string(rows.size()) + " rows";
  if (columns.size() > most)
    note += "; the first " + std::to_string(most) + " of " + std::to_string(columns.size()) + " columns";
  inside += detail::svg_text(6, grid.bottom() + 18, detail::fitted(note, detail::picture_width - 12), "p-soft") + "\n";
  return detail::picture(grid.bottom() + 26, title + ", values from " + note, inside);
}

}  // namespace redco::report
