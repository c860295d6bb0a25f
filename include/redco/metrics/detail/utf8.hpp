#pragma once

#include <cstddef>
#include <string_view>

namespace redco::metrics::detail {

/// The first code point of a text and its number of bytes. Bytes that are not UTF-8 count one by
/// one, as the code points U+DC80 to U+DCFF, which no valid text contains.
struct first_code_point {
  char32_t value;
  std::size_t bytes;
};

/// Returns the first code point of `text`, which must not be empty.
first_code_point first_code_point_of(std::string_view text);

/// Returns true if Python's str.split() separates words at the code point.
bool is_space(char32_t c);

/// Calls f(c, bytes) for each code point `c` of `text`.
template <class F>
void for_each_code_point(std::string_view text, F&& f) {
  while (!text.empty()) {
    first_code_point const first = first_code_point_of(text);
    f(first.value, text.substr(0, first.bytes));
    text.remove_prefix(first.bytes);
  }
}

}  // namespace redco::metrics::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/metrics/detail/utf8.inl.hpp>
#endif
