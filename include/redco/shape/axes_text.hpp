#pragma once

#include <redco/shape/axis.hpp>

#include <string>
#include <string_view>

namespace redco::shape {

/// Returns the names of mesh axes, from the outermost to the innermost, with the text `between`
/// after each but the last: "dp+ep".
inline std::string axes_text(axes some, std::string_view between = "+") {
  std::string text;
  for (axis const a : all_axes) {
    if (!some.has(a)) continue;
    if (!text.empty()) text += between;
    text += name_of(a);
  }
  return text;
}

}  // namespace redco::shape
