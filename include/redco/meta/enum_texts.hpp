#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace redco::meta {

/// A value of an enumeration and its text: a row of a table of `enum_texts`.
template <class Enum>
struct enum_row {
  Enum value;
  std::string_view text;
};

}  // namespace redco::meta

namespace redco::meta::detail {

/// Returns true if an enumerator has the value `Value`. Compilers write any other value of an
/// enumeration as a cast of a number, such as "(redco::shape::axis)4".
template <auto Value>
constexpr bool is_enumerator() {
  std::string_view const text = __PRETTY_FUNCTION__;
  char const after = text[text.rfind(')') + 1];
  return after != '-' && (after < '0' || after > '9');
}

/// A table of the texts of an enumeration, made by the function `redco::meta::enum_texts`.
template <class Enum, std::size_t Rows>
struct enum_table {
  enum_row<Enum> rows[Rows];

  /// Returns the text of `value`, or an empty text if no enumerator has this value.
  constexpr std::string_view text_of(Enum value) const {
    for (enum_row<Enum> const& one : rows)
      if (one.value == value) return one.text;
    return {};
  }

  /// Returns the first value with exactly this text, or nullopt if no row has the text.
  constexpr std::optional<Enum> value_of(std::string_view text) const {
    for (enum_row<Enum> const& one : rows)
      if (one.text == text) return one.value;
    return {};
  }

  /// Returns the values in the order of the rows.
  constexpr std::array<Enum, Rows> values() const {
    std::array<Enum, Rows> all{};
    for (std::size_t i = 0; i < Rows; ++i) all[i] = rows[i].value;
    return all;
  }

  static constexpr std::size_t size() { return Rows; }
};

/// Returns true if each enumerator from 0 to `Last` has exactly one row, and no other value has a
/// row.
template <std::size_t Last, class Enum, std::size_t Rows>
constexpr bool has_each_enumerator_once(enum_row<Enum> const (&rows)[Rows]) {
  auto const count = [&](std::size_t value) {
    std::size_t found = 0;
    for (enum_row<Enum> const& one : rows) found += static_cast<std::size_t>(one.value) == value ? 1 : 0;
    return found;
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((count(I) == (is_enumerator<static_cast<Enum>(I)>() ? 1 : 0)) && ...) && (count(I) + ...) == Rows;
  }
  (std::make_index_sequence<Last + 1>{});
}

/// Not constexpr, so that a call in constant evaluation is a compile error with this name.
inline void each_enumerator_needs_one_row() {}

}  // namespace redco::meta::detail

namespace redco::meta {

/// Returns the table of the texts of an enumeration, which converts in both directions. Compile
/// error unless each enumerator from 0 to `Last` has exactly one row. The default of `Last` is the
/// number of rows, so that a new last enumerator needs a row too.
///
///   inline constexpr auto color_texts =
///       enum_texts<color>({{color::red, "red"}, {color::blue, "blue"}});
///   color_texts.text_of(color::red);  // "red"
///   color_texts.value_of("blue");     // std::optional(color::blue)
template <class Enum, std::size_t Last = 0, std::size_t Rows>
consteval detail::enum_table<Enum, Rows> enum_texts(enum_row<Enum> const (&rows)[Rows]) {
  if (!detail::has_each_enumerator_once<(Last > 0 ? Last : Rows)>(rows)) detail::each_enumerator_needs_one_row();
  detail::enum_table<Enum, Rows> table{};
  for (std::size_t i = 0; i < Rows; ++i) table.rows[i] = rows[i];
  return table;
}

}  // namespace redco::meta
