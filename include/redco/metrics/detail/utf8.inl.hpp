#pragma once

#include <redco/metrics/detail/utf8.hpp>

#include <redco/meta/utf8.hpp>
#include <redco/config.hpp>

namespace redco::metrics::detail {

REDCO_INLINE first_code_point first_code_point_of(std::string_view text) {
  meta::utf8_front const front = meta::utf8_front_of(text);
  if (front.valid) return {meta::code_point(text), front.bytes};
  return {0xDC00 + static_cast<char32_t>(static_cast<unsigned char>(text[0])), 1};
}

REDCO_INLINE bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace redco::metrics::detail
