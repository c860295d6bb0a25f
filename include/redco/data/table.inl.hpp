#pragma once

#include <redco/data/table.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::data::detail {

REDCO_INLINE std::string_view number_text(std::string_view field) {
  std::size_t const begin = std::min(field.find_first_not_of(" \t"), field.size());
  field = field.substr(begin, field.find_last_not_of(" \t") + 1 - begin);
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  return field;
}

REDCO_INLINE void refuse_number(table const& from, std::size_t row, std::size_t column, std::string const& expected) {
  std::string_view const field = from.rows[row][column];
  constexpr std::size_t most = 60;
  throw error(exit_code::data, from.path + ":" + std::to_string(from.lines[row]) + ": column \"" +
                                   from.columns[column] + "\": \"" + std::string(field.substr(0, most)) +
                                   (field.size() > most ? "..." : "") + "\" is no " + expected + "; correct the field");
}

}  // namespace redco::data::detail
