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

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/pictures/confusion_matrix.inl.hpp>
#endif
