#pragma once

#include <array>
#include <charconv>
#include <string>

namespace redco::workdir {

/// Returns the shortest text that converts back to exactly `value`, such as "0.1" or "3e-04".
template <class Number>
std::string number_text(Number value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace redco::workdir
