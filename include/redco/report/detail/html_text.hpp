#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace redco::report::detail {

/// Returns `text` escaped for the content and the quoted attributes of HTML elements. Control
/// characters become spaces.
inline std::string escaped(std::string_view text) {
  std::string result;
  for (char const c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return result;
}

/// Returns a coordinate as text for SVG, with at most one decimal, independent of the locale.
inline std::string coordinate(double value) {
  auto const tenths = static_cast<std::int64_t>(value * 10 + (value < 0 ? -0.5 : 0.5));
  std::int64_t const size = tenths < 0 ? -tenths : tenths;
  std::string text = (tenths < 0 ? "-" : "") + std::to_string(size / 10);
  return size % 10 == 0 ? text : text + "." + std::to_string(size % 10);
}

inline std::string svg_rect(double x, double y, double width, double height, std::string const& style) {
  return "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" + coordinate(width) + "\" height=\"" +
         coordinate(height) + "\" class=\"" + style + "\"/>";
}

inline std::string svg_text(double x, double y, std::string_view text, std::string const& style = "") {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\"" +
         (style.empty() ? "" : " class=\"" + style + "\"") + ">" + escaped(text) + "</text>";
}

inline std::string svg_path(std::string const& d, std::string const& style) {
  return "<path d=\"" + d + "\" class=\"" + style + "\"/>";
}

/// Returns an SVG image with the content `inside`, which scales with the width of the page. `says`
/// is the description for screen readers.
inline std::string svg(double width, double height, std::string_view says, std::string const& inside) {
  return "<svg viewBox=\"0 0 " + coordinate(width) + " " + coordinate(height) + "\" role=\"img\" aria-label=\"" +
         escaped(says) + "\">\n" + inside + "</svg>\n";
}

}  // namespace redco::report::detail
