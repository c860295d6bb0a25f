#pragma once

#include <redco/diag/error.hpp>
#include <redco/meta/trimmed.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::data {

/// Options of `read_table`.
struct table_options {
  char separator = 0;            ///< ASCII character; 0: a comma for .csv, a tab for .tsv
  bool quotes = true;            ///< Fields may be quoted (RFC 4180); false: " is ordinary text
  double invalid_utf8 = 0;       ///< Share of the bytes, 0 to 1, that may be invalid UTF-8
  bool skip_wrong_rows = false;  ///< Skips and counts wrong rows instead of throwing an error
};

/// Rows of a CSV, TSV or JSONL file, with the chosen columns only.
struct table {
  std::string path = {};
  std::vector<std::string> columns = {};            ///< Chosen columns, in the order of the caller
  std::vector<std::vector<std::string>> rows = {};  ///< rows[row][column]
  std::vector<std::int64_t> lines = {};             ///< Line, from 1, where each row begins
  std::int64_t skipped = 0;                         ///< Number of wrong rows that were skipped
  std::string first_skipped = {};                   ///< "path:line: why" of the first skipped row
};

/// Removes the last one of each `every` consecutive rows from a table, and returns a table of the
/// removed rows, for evaluation. Throws `error` with exit code 65 if one part would be empty.
/// Requires every >= 2.
inline table hold_out_rows(table& from, std::int64_t every) {
  if (std::ssize(from.rows) < every)
    throw error(exit_code::data, from.path + " has " + std::to_string(from.rows.size()) +
                                     " rows, too few to hold out every " + std::to_string(every) +
                                     "th; give more rows, or a file to evaluate on");
  table kept{.path = from.path, .columns = from.columns, .skipped = from.skipped, .first_skipped = from.first_skipped};
  table held_out{.path = from.path, .columns = from.columns};
  for (std::size_t row = 0; row < from.rows.size(); ++row) {
    table& part = (static_cast<std::int64_t>(row) + 1) % every == 0 ? held_out : kept;
    part.rows.push_back(std::move(from.rows[row]));
    part.lines.push_back(from.lines[row]);
  }
  from = std::move(kept);
  return held_out;
}

namespace detail {

/// Returns the text of a number: `field` without spaces and tabs around it and without a plus sign.
inline std::string_view number_text(std::string_view field) {
  field = meta::trimmed(field, " \t");
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  return field;
}

/// Throws `error` with exit code 65. The message says that the field is not an `expected` number.
[[noreturn]] inline void refuse_number(table const& from, std::size_t row, std::size_t column,
                                       std::string const& expected) {
  std::string_view const field = from.rows[row][column];
  constexpr std::size_t most = 60;
  throw error(exit_code::data, from.path + ":" + std::to_string(from.lines[row]) + ": column \"" +
                                   from.columns[column] + "\": \"" + std::string(field.substr(0, most)) +
                                   (field.size() > most ? "..." : "") + "\" is no " + expected + "; correct the field");
}

}  // namespace detail

/// Returns a field as a number: `number_of<float>(table, row, column)`. `column` is an index into
/// table.columns. Ignores spaces and tabs around the number. Throws `error` with exit code 65 and
/// "path:line: column" if the field is no number, or a number that `Number` cannot hold. NaN and
/// infinities are refused.
template <class Number>
  requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool>)
Number number_of(table const& from, std::size_t row, std::size_t column) {
  std::string_view const text = detail::number_text(from.rows.at(row).at(column));
  Number value{};
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = failure == std::errc{} && end == text.data() + text.size();
  if constexpr (std::floating_point<Number>) {
    if (whole && std::isfinite(value)) return value;
    detail::refuse_number(from, row, column,
                          "number in the range of " + std::to_string(8 * sizeof(Number)) + "-bit floating point");
  } else {
    if (whole) return value;
    using limits = std::numeric_limits<Number>;
    detail::refuse_number(
        from, row, column,
        "whole number from " + std::to_string(limits::min()) + " to " + std::to_string(limits::max()));
  }
}

}  // namespace redco::data
