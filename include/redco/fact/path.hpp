#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace redco::fact {

/// A dotted name such as "h.*.attn.q.weight" built at compile time; `*`, or a slice
/// as Python writes it ("0::2"), stands for the index of a repeated block.
struct path {
  static constexpr std::size_t capacity = 80;

  std::array<char, capacity> text{};
  std::size_t size = 0;

  constexpr std::string_view view() const { return {text.data(), size}; }

  /// Appends a component; a name longer than the capacity is cut by the compiler's own error in a constant expression.
  constexpr void push(std::string_view component) {
    if (component.empty()) return;
    if (size > 0) text.at(size++) = '.';
    for (char const c : component) text.at(size++) = c;
  }

  friend constexpr bool operator==(path const& a, path const& b) { return a.view() == b.view(); }
};

}  // namespace redco::fact
