#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace redco::fact {

/// A dotted name of a layer or parameter, such as "h.*.attn.q.weight", built at compile time. `*`
/// or a Python slice such as "0::2" replaces the index of a repeated block. Characters beyond the
/// capacity are counted but not stored; the recorder reports such a path as error L010.
struct path {
  static constexpr std::size_t capacity = 80;

  std::array<char, capacity> text{};
  std::size_t size = 0;
  std::size_t missing = 0;  ///< Number of characters that exceed the capacity and are not stored

  constexpr std::string_view view() const { return {text.data(), size}; }

  /// Appends a name component to the path, with a dot between if the path is not empty.
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
