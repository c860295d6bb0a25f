#pragma once

#include <span>
#include <string>
#include <vector>

namespace redco::report {

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
#include <redco/report/pictures/heat_map.inl.hpp>
#endif
