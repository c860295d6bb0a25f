#pragma once

// Labels of a table: the last column, as indices of classes or as numbers.

#include <redco/data/table.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace labels {

/// Returns the value of a label that is a whole number.
inline std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc{} && end == text.data() + text.size()) return value;
  return {};
}

/// Returns the names in one line, separated by commas; at most 20 of them.
inline std::string line(std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 20); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > 20 ? ", ..." : "");
}

[[noreturn]] inline void refuse(redco::data::table const& from, std::size_t row, std::string const& why) {
  throw redco::error(redco::exit_code::data, from.path + ":" + std::to_string(from.lines[row]) + ": column \"" +
                                                 from.columns.back() + "\": \"" + from.rows[row].back() + "\" " + why);
}

/// Returns the different labels of a table, sorted by value if all are whole numbers, else by name.
/// Throws `error` with exit code 65 for an empty label and for a table with fewer than two labels.
inline std::vector<std::string> names_of(redco::data::table const& from) {
  std::set<std::string> found;
  for (std::size_t row = 0; row < from.rows.size(); ++row) {
    if (from.rows[row].back().empty()) refuse(from, row, "is no label; write one there");
    found.insert(from.rows[row].back());
  }
  if (found.size() < 2)
    throw redco::error(redco::exit_code::data, from.path + " has only the label \"" + *found.begin() +
                                                   "\"; give examples of two labels or more");
  std::vector<std::string> names(found.begin(), found.end());
  if (std::all_of(names.begin(), names.end(), [](auto const& name) { return whole(name).has_value(); }))
    std::sort(names.begin(), names.end(), [](auto const& a, auto const& b) { return *whole(a) < *whole(b); });
  return names;
}

/// Returns the class of each row: the index of its label among `names`. A whole number that is no
/// name is the index itself. Throws `error` with exit code 65 and "path:line" for any other label.
inline std::vector<double> classes_of(redco::data::table const& from, std::vector<std::string> const& names) {
  std::vector<double> all;
  for (std::size_t row = 0; row < from.rows.size(); ++row) {
    std::string const& label = from.rows[row].back();
    auto const at = std::find(names.begin(), names.end(), label);
    auto const index = at != names.end() ? at - names.begin() : whole(label).value_or(-1);
    if (index < 0 || index >= std::ssize(names))
      refuse(from, row, "is none of the " + std::to_string(names.size()) + " labels " + line(names) + "; correct it");
    all.push_back(static_cast<double>(index));
  }
  return all;
}

/// Returns the label of each row as a number. Throws the errors of `redco::data::number_of`.
inline std::vector<double> numbers_of(redco::data::table const& from) {
  std::vector<double> all;
  for (std::size_t row = 0; row < from.rows.size(); ++row)
    all.push_back(redco::data::number_of<double>(from, row, from.columns.size() - 1));
  return all;
}

}  // namespace labels
