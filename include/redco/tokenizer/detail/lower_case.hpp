#pragma once

#include <redco/tokenizer/detail/utf8.hpp>

#include <utf8proc.h>

#include <string>

namespace redco::tokenizer::detail {

/// A range {first, last} of capital letters whose lower case was added in Unicode 16 or 17, and the
/// number to add to a capital letter. utf8proc knows these letters only since version 2.11.
struct late_lower_case {
  char32_t first, last;
  int add;
};
inline constexpr late_lower_case late_lower_cases[] = {
    {0x1C89, 0x1C89, 1},      {0xA7CB, 0xA7CB, -0xA567}, {0xA7CC, 0xA7CC, 1}, {0xA7CE, 0xA7CE, 1},
    {0xA7D2, 0xA7D2, 1},      {0xA7D4, 0xA7D4, 1},       {0xA7DA, 0xA7DA, 1}, {0xA7DC, 0xA7DC, -0xA641},
    {0x10D50, 0x10D65, 0x20}, {0x16EA0, 0x16EB8, 0x1B},
};

/// Appends the lower case of the code point `c` to `text`. The result does not depend on adjacent
/// code points.
inline void append_lower(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    return;
  }
  if (c == 0x130) {  // the only code point whose lower case has two code points
    text += "i\xCC\x87";
    return;
  }
  auto lower = utf8proc_tolower(static_cast<utf8proc_int32_t>(c));
  if (c >= late_lower_cases[0].first) {
    for (late_lower_case const& late : late_lower_cases) {
      if (c >= late.first && c <= late.last) lower = static_cast<utf8proc_int32_t>(c) + late.add;
    }
  }
  append_code_point(text, static_cast<char32_t>(lower));
}

}  // namespace redco::tokenizer::detail
