#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

/// A string literal as a structural value, so that a name can be a template argument:
/// `field<"epochs">`.
template <std::size_t N>
struct fixed_string {
  char characters[N]{};

  // Implicit, so that a literal can be written as a name.
  constexpr fixed_string(char const (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }

  /// Returns the characters of the string literal without the terminating NUL.
  constexpr std::string_view view() const { return {characters, N - 1}; }
  /// Returns true if both texts are equal. A defaulted operator compares the members; g++ 14 then
  /// evaluates `a == b && !(a == c)` incorrectly to false.
  friend constexpr bool operator==(fixed_string const& a, fixed_string const& b) { return a.view() == b.view(); }
};

}  // namespace redco::meta
