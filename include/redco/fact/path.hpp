#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace redco::fact {

/// A dotted name such as "h.*.attn.q.weight", built at compile time. `*` or a Python slice such as
/// "0::2" replaces the index of a repeated block. Characters beyond the capacity are counted but
/// not stored; a recorder rejects such a path.
struct path {
  static constexpr std::size_t capacity = 80;

  std::array<char, capacity> text{};
  std::size_t size = 0;
  std::size_t missing = 0;  ///< Number of characters beyond the capacity

  constexpr std::string_view view() const { return {text.data(), size}; }

  /// Appends a component, with a dot before it if the path is not empty.
  constexpr void push(std::string_view component) {
    if (component.empty()) return;
    if (size > 0) append('.');
    for (char const c : component) append(c);
  }

  friend constexpr bool operator==(path const& a, path const& b) { return a.view() == b.view(); }

 private:
  constexpr void append(char c) {
    if (size < capacity) text[size++] = c;
    else ++missing;
  }
};

}  // namespace redco::fact
