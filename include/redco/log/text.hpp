#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace redco::log {

/// Returns `value` as text with `decimals` digits after the decimal point, independent of the
/// locale.
inline std::string fixed_text(double value, int decimals) {
  char buffer[400];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  return {buffer, end};
}

/// Returns `value` in scientific notation with one digit after the point, and no zeros before the
/// exponent: "3.0e-4".
inline std::string scientific_text(double value) {
  if (!std::isfinite(value)) return fixed_text(value, 0);
  if (value == 0) return "0";
  char buffer[32];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 1).ptr;
  std::string text(buffer, end);
  std::size_t const sign = text.find('e') + 1;
  std::size_t const digit = text.find_first_not_of('0', sign + 1);
  std::string const exponent = digit == std::string::npos ? "0" : text.substr(digit);
  return text.substr(0, sign) + (text[sign] == '-' ? "-" : "") + exponent;
}

/// Returns `value` as text with about `digits` significant digits, such as "2.31" or "0.0123". Uses
/// scientific notation if the plain text would be long.
inline std::string short_text(double value, int digits) {
  double const size = std::abs(value);
  if (!std::isfinite(value) || value == 0) return fixed_text(value, 0);
  if (size < 1e-3 || size >= 1e6) return scientific_text(value);
  int const before = static_cast<int>(std::floor(std::log10(size))) + 1;
  return fixed_text(value, before >= digits ? 0 : digits - before);
}

/// Returns a count as short text with a prefix of powers of 1000: "950", "1.2k", "18.4k", "3.1M".
inline std::string count_text(double value) {
  constexpr std::string_view units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; std::abs(value) >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fixed_text(value, unit == 0 ? 0 : 1) + std::string(units[unit]);
}

/// Returns a duration in seconds as text: "02:10" (minutes and seconds) below one hour, otherwise
/// "01:02:10". If `hours` is true, the text always includes hours.
inline std::string clock_text(double seconds, bool hours = false) {
  if (!(seconds < 3.6e8)) return "--:--";
  auto const whole = seconds > 0 ? static_cast<std::int64_t>(seconds) : 0;
  auto two = [](std::int64_t part) { return (part < 10 ? "0" : "") + std::to_string(part); };
  std::string const tail = two(whole / 60 % 60) + ":" + two(whole % 60);
  return hours || whole >= 3600 ? two(whole / 3600) + ":" + tail : tail;
}

/// Returns the number of terminal columns that the UTF-8 text occupies. Every code point counts as
/// one column.
inline std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return count;
}

/// Returns the longest prefix of a UTF-8 text that fits into `width` terminal columns, one per code
/// point.
inline std::string_view fit(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U && seen++ == width) break;
  }
  return text.substr(0, bytes);
}

}  // namespace redco::log
