#pragma once

#include <cstddef>
#include <string_view>

namespace redco {

/// A string literal as a structural value, so that a name can be a template argument: `field<"epochs">`.
template <std::size_t N>
struct fixed_string {
  char characters[N]{};

  constexpr fixed_string(
      char const (&text)[N]) {  // implicit, so that a literal can be written where a name is expected
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }

  /// The text without its terminating NUL.
  constexpr std::string_view view() const { return {characters, N - 1}; }
  /// Not defaulted: of `a == b && !(a == c)` g++ 14 makes false when the members are compared.
  friend constexpr bool operator==(fixed_string const& a, fixed_string const& b) { return a.view() == b.view(); }
};

}  // namespace redco
