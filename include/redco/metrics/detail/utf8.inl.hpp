#pragma once

#include <redco/metrics/detail/utf8.hpp>

#include <redco/config.hpp>

namespace redco::metrics::detail {

REDCO_INLINE first_code_point first_code_point_of(std::string_view text) {
  auto const byte = [text](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  char32_t const lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  first_code_point const invalid{0xDC00 + lead, 1};
  if (lead < 0xC2 || lead > 0xF4) return invalid;
  std::size_t const size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < size) return invalid;
  char32_t value = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return invalid;
    value = value << 6 | (byte(i) & 0x3FU);
  }
  bool const overlong = value < (size == 3 ? 0x800U : size == 4 ? 0x10000U : 0x80U);
  bool const surrogate = value >= 0xD800 && value <= 0xDFFF;
  return overlong || surrogate || value > 0x10FFFF ? invalid : first_code_point{value, size};
}

REDCO_INLINE bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace redco::metrics::detail
