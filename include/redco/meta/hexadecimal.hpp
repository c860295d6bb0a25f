#pragma once

#include <string>
#include <string_view>

namespace redco::meta {

/// Returns a byte as two upper-case hexadecimal digits, for messages.
inline std::string hexadecimal(char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  auto const value = static_cast<unsigned char>(byte);
  return {digits[value / 16], digits[value % 16]};
}

}  // namespace redco::meta
