#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::report {

/// Returns an SVG picture of a confusion matrix: a row per true class and a column per predicted
/// class, with counts, and the share of each row that is right. A colour shows a cell's share of
/// its row. Of more than 40 classes, shows those with the most errors.
///
///   std::string const svg = redco::report::confusion_matrix(said, labels, {"cat", "dog"});
///
/// Throws `error` with exit code 65 if a class is not an index of `classes`, 70 if there are not as
/// many predictions as labels.
std::string confusion_matrix(std::span<std::int64_t const> predicted, std::span<std::int64_t const> labels,
                             std::vector<std::string> const& classes, std::string const& title = "confusion matrix");

/// Returns an SVG picture of a matrix of values, such as the attention of each word of a caption to
/// the patches of an image. The least value has the colour of the page and the greatest the full
/// colour; a value that is not finite has a dashed cell. `values` are row by row. Shows at most 64
/// rows and columns.
///
///   redco::report::heat_map(weights, {"a", "red", "bus"}, patches, "attention");
///
/// Throws `error` with exit code 70 if there are not rows x columns values.
std::string heat_map(std::span<double const> values, std::vector<std::string> const& rows,
                     std::vector<std::string> const& columns, std::string const& title = {});

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/pictures/confusion_matrix.inl.hpp>
#endif
