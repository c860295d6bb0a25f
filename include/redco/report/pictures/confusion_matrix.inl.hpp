#pragma once

#include <redco/report/pictures/confusion_matrix.hpp>

#include <redco/report/detail/cell_grid.hpp>
#include <redco/report/detail/picture.hpp>
#include <redco/report/detail/plot_axis.hpp>
#include <redco/log/text.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>

namespace redco::report::detail {

/// Returns the indices of at most `most` classes in order: those with the most errors.
inline std::vector<std::size_t> shown_classes(std::vector<std::int64_t> const& counts, std::size_t classes,
                                              std::size_t most) {
  std::vector<std::int64_t> errors(classes);
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = 0; j < classes; ++j)
      if (i != j) errors[i] += counts[i * classes + j], errors[j] += counts[i * classes + j];
  std::vector<std::size_t> order(classes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return errors[a] > errors[b]; });
  order.resize(std::min(order.size(), most));
  std::sort(order.begin(), order.end());
  return order;
}

inline std::string percent_text(std::int64_t part, std::int64_t all) {
  if (all == 0) return "none";
  return log::fixed_text(100 * static_cast<double>(part) / static_cast<double>(all), 1) + "%";
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string confusion_matrix(std::span<std::int64_t const> predicted, std::span<std::int64_t const> labels,
                                          std::vector<std::string> const& classes, std::string const& title) {
  if (predicted.size() != labels.size())
    throw error(exit_code::internal, "a confusion matrix has " + std::to_string(predicted.size()) +
                                         " predictions and " + std::to_string(labels.size()) +
                                         " labels: give one of each per example");
  if (labels.empty()) return detail::sentence_picture(title, "no examples");
  std::size_t const size = classes.size();
  std::vector<std::int64_t> counts(size * size);
  std::int64_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::int64_t const one : {labels[i], predicted[i]})
      if (one < 0 || one >= std::ssize(classes))
        throw error(exit_code::data, "example " + std::to_string(i) + " of a confusion matrix has class " +
                                         std::to_string(one) + ", but there are " + std::to_string(size) +
                                         " classes: give the name of each class");
    ++counts[static_cast<std::size_t>(labels[i]) * size + static_cast<std::size_t>(predicted[i])];
    right += labels[i] == predicted[i];
  }
  std::vector<std::size_t> const shown = detail::shown_classes(counts, size, 40);
  std::vector<std::string> names;
  for (std::size_t const index : shown) names.push_back(classes[index]);
  detail::cell_grid const grid(names, names, 36, 48);
  std::string const total = detail::percent_text(right, static_cast<std::int64_t>(labels.size())) + " of " +
                            std::to_string(labels.size()) + " right";
  std::string inside = detail::picture_title(title) +
                       detail::svg_text(6, 30, total + "; rows: true, columns: predicted", "p-soft") + "\n";
  for (std::size_t row = 0; row < shown.size(); ++row) {
    auto const begin = counts.begin() + static_cast<std::ptrdiff_t>(shown[row] * size);
    std::int64_t const of_row = std::accumulate(begin, begin + std::ssize(classes), std::int64_t{0});
    for (std::size_t column = 0; column < shown.size(); ++column) {
      std::int64_t const count = begin[static_cast<std::ptrdiff_t>(shown[column])];
      double const share = of_row > 0 ? static_cast<double>(count) / static_cast<double>(of_row) : 0;
      if (count == 0) continue;
      inside += grid.cell(row, column, share,
                          detail::fitted(names[row], 200) + " predicted as " + detail::fitted(names[column], 200) +
                              ": " + std::to_string(count) + ", " + detail::percent_text(count, of_row)) +
                grid.cell_text(row, column, share, std::to_string(count)) + "\n";
    }
    if (grid.size() >= 12)
      inside += detail::svg_text(detail::picture_width - 6, grid.top(row) + grid.size() / 2 + 4,
                                 detail::percent_text(begin[static_cast<std::ptrdiff_t>(shown[row])], of_row),
                                 "p-soft p-end") +
                "\n";
  }
  inside += grid.frame() + grid.names();
  double bottom = grid.bottom() + 10;
  if (shown.size() < size) {
    bottom += 10;
    inside += detail::svg_text(
                  6, bottom,
                  std::to_string(shown.size()) + " of " + std::to_string(size) + " classes: those with the most errors",
                  "p-soft") +
              "\n";
    bottom += 8;
  }
  return detail::picture(bottom, title + ": " + total, inside);
}

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
