#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace redco::detail {

/// The shortest decimal that reads back as `value`; null where it is not finite, as JSON has no word for it.
inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

/// `text` in quotes; control characters, quote and backslash escaped.
inline std::string json_string(std::string_view text) {
  constexpr char const* digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (char letter : text) {
    auto const byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted += {'\\', letter};
    } else if (byte < 0x20) {
      quoted += {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

}  // namespace redco::detail
