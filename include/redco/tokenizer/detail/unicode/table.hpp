#pragma once

#include <cstddef>
#include <cstdint>

namespace redco::detail {

// Rows of the tables of Unicode, ascending by their first member.
struct code_single {
  char32_t first, other;
};
struct code_pair {
  char32_t first, left, right;
};
struct code_range {
  char32_t first, last;
};
struct code_class {
  char32_t first, last, combining;
};
struct code_lower {
  char32_t first, last, step;
  std::uint32_t add;
};

/// The last row whose first code point is not behind `c`; null when there is none.
template <class Row, std::size_t N>
Row const* row_of(Row const (&table)[N], char32_t c) {
  std::size_t low = 0;
  std::size_t high = N;
  while (low < high) {
    std::size_t const middle = (low + high) / 2;
    if (table[middle].first <= c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : &table[low - 1];
}

/// Whether one of the ranges holds `c`.
template <class Row, std::size_t N>
bool holds(Row const (&table)[N], char32_t c) {
  Row const* const row = row_of(table, c);
  return row != nullptr && c <= row->last;
}

}  // namespace redco::detail
