#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace redco::report {

/// A series of points for a picture of curves. The points are in the order of x. A value that is
/// not finite is a gap.
struct series {
  std::string name;
  std::vector<double> x, y;
};

/// A set of options for a picture of curves.
struct curve_options {
  std::string title = {};
  std::string x_label = "step";
  std::string y_label = {};
  /// True for a logarithmic y axis. Values that are not positive are then gaps.
  bool log_y = false;
  /// Largest number of points that the picture keeps of a series; see thinned().
  std::size_t most_points = 600;
};

/// Returns at most `most` points of a series. Keeps the first and the last point and, of each of
/// many equal parts, the least and the greatest value and one gap. Requires most >= 8.
series thinned(series const& all, std::size_t most);

/// Returns an SVG picture of up to 12 curves over the same axes, with ticks at round numbers and a
/// legend with the last value of each curve. It needs no JavaScript and suits light and dark
/// screens. Texts may be any bytes. Without a finite point, the picture has a sentence.
///
///   redco::report::curves({{"train", steps, losses}}, {.title = "loss"});
///
/// Throws `error` with exit code 70 if a series has not as many values of x as of y.
std::string curves(std::vector<series> const& all, curve_options const& options = {});

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/pictures/curves.inl.hpp>
#endif
