#pragma once

#include <redco/shape/extents.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace redco::report::detail {

/// Returns a number of bytes as text with three significant digits: "768 B", "12.3 KiB", "4.56
/// GiB".
inline std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  char const* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(units)) value /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

/// Returns a number of operations as text with a prefix of powers of 1000: "768", "12.3 M", "4.56
/// G".
inline std::string operations_text(double value) {
  char const* const units[] = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(units)) value /= 1000, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f%s" : "%.3g%s", value, units[unit]);
  return text;
}

/// Returns a duration as text with three significant digits: "12.3 s", "4.56 ms", "789 us".
inline std::string seconds_text(double seconds) {
  char const* const units[] = {"s", "ms", "us"};
  std::size_t unit = 0;
  while (seconds < 1 && unit + 1 < std::size(units)) seconds *= 1000, ++unit;
  char text[64];
  std::snprintf(text, sizeof text,
                seconds < 10    ? "%.2f %s"
                : seconds < 100 ? "%.1f %s"
                                : "%.0f %s",
                seconds, units[unit]);
  return text;
}

/// Returns the extents of a tensor as text: "[3072, 768]".
inline std::string extents_text(extents const& shape) {
  std::string text = "[";
  for (int d = 0; d < shape.rank; ++d) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

inline std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

inline std::string padded_left(std::string const& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace redco::report::detail
