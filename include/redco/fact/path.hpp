#pragma once

#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::fact {

/// A dotted name such as "h.*.attn.q.weight" built at compile time; `*`, or a slice
/// as Python writes it ("0::2"), stands for the index of a repeated block.
struct path {
  static constexpr std::size_t capacity = 80;

  std::array<char, capacity> text{};
  std::size_t size = 0;

  constexpr std::string_view view() const { return {text.data(), size}; }

  /// Appends a component. Errors: exit code 70 for a path of more characters than `capacity`; in a
  /// constant expression the compiler's own, at the throw below.
  constexpr void push(std::string_view component) {
    if (component.empty()) return;
    if (component.size() + (size > 0 ? 1 : 0) > capacity - size)
      throw error(exit_code::internal, "the layer path \"" + std::string(view()) + (size > 0 ? "." : "") +
                                           std::string(component) + "\" has more than " + std::to_string(capacity) +
                                           " characters: give its layers shorter names");
    if (size > 0) text[size++] = '.';
    for (char const c : component) text[size++] = c;
  }

  friend constexpr bool operator==(path const& a, path const& b) { return a.view() == b.view(); }
};

}  // namespace redco::fact
