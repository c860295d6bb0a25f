#pragma once

#include <redco/diag/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::shape {

/// A text of at most 120 characters as a structural type, so that the config of a model can contain
/// it and still be a template argument. Throws `error` with exit code 64 for a longer text; a
/// longer text in a constant expression does not compile.
struct short_text {
  static constexpr std::size_t capacity = 120;

  std::array<char, capacity> characters{};
  std::size_t size = 0;

  constexpr short_text() = default;
  constexpr short_text(std::string_view text) : size(text.size()) {
    if (size > capacity)
      throw error(exit_code::usage,
                  "'" + std::string(text) + "' is too long: write at most " + std::to_string(capacity) + " characters");
    for (std::size_t i = 0; i < size; ++i) characters[i] = text[i];
  }
  constexpr short_text(char const* text) : short_text(std::string_view(text)) {}
  short_text(std::string const& text) : short_text(std::string_view(text)) {}

  constexpr std::string_view view() const { return {characters.data(), size}; }
  constexpr operator std::string_view() const { return view(); }

  friend constexpr bool operator==(short_text const&, short_text const&) = default;
};

}  // namespace redco::shape
