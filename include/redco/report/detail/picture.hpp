#pragma once

#include <redco/report/detail/html_text.hpp>
#include <redco/log/text.hpp>
#include <redco/meta/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::report::detail {

/// Width of every picture in its own units: a phone shows 11 units as about 11 pixels.
inline constexpr double picture_width = 360;

/// Style sheet of a picture: light colours, or dark ones if the reader prefers dark screens. The
/// classes p0 to p5 are the colours of lines. All pictures have equal style sheets, because a page
/// applies the style sheet of one inline picture to all.
inline constexpr std::string_view picture_style = R"(<style>
.redco-picture{--p-page:#fff;--p-ink:#1b1f24;--p-soft:#59636e;--p-line:#d1d9e0;--p-full:#0b6bcb;--p-on:#fff;
--p0:#0b6bcb;--p1:#c2410c;--p2:#1a7f5a;--p3:#a8407f;--p4:#6a4fb5;--p5:#6b5900;background:var(--p-page)}
@media screen and (prefers-color-scheme:dark){.redco-picture{--p-page:#0f1419;--p-ink:#e4e9ee;--p-soft:#9aa7b4;
--p-line:#313c47;--p-full:#6cb6ff;--p-on:#0f1419;--p0:#6cb6ff;--p1:#ffab70;--p2:#56d3a0;--p3:#e78bc7;--p4:#b9a6f0;
--p5:#d9c55a}}
.redco-picture text{font:11px system-ui,sans-serif;fill:var(--p-ink)}
.redco-picture .p-soft{fill:var(--p-soft)}.redco-picture .p-strong{font-weight:600}.redco-picture .p-on{fill:var(--p-on)}
.redco-picture .p-small{font-size:9px}.redco-picture .p-mid{text-anchor:middle}.redco-picture .p-end{text-anchor:end}
.redco-picture .p-frame{fill:none;stroke:var(--p-soft)}.redco-picture .p-grid{fill:none;stroke:var(--p-line)}
.redco-picture .p-cell{fill:var(--p-full)}.redco-picture .p-none{fill:none;stroke:var(--p-line);stroke-dasharray:2 2}
.redco-picture .p-curve{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
.redco-picture .p-dashed{stroke-dasharray:5 3}.redco-picture image{image-rendering:pixelated}
.redco-picture .p0{stroke:var(--p0)}.redco-picture .p1{stroke:var(--p1)}.redco-picture .p2{stroke:var(--p2)}
.redco-picture .p3{stroke:var(--p3)}.redco-picture .p4{stroke:var(--p4)}.redco-picture .p5{stroke:var(--p5)}
.redco-picture circle{stroke-width:1.5;fill:var(--p-page)}
</style>
)";

/// Returns an SVG document of the given height with the content `inside`. `says` is the description
/// for screen readers.
inline std::string picture(double height, std::string_view says, std::string const& inside) {
  std::string valid;
  meta::append_well_formed(valid, says);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"redco-picture\" viewBox=\"0 0 " +
         coordinate(picture_width) + " " + coordinate(height) + "\" role=\"img\" aria-label=\"" + escaped(valid) +
         "\">\n" + std::string(picture_style) + inside + "</svg>\n";
}

/// Returns an upper bound of the width of a text in the font of pictures. `size`: size of the font.
inline double text_width(std::string_view text, double size = 11) {
  return 0.62 * size * static_cast<double>(log::columns(text));
}

/// Returns `text` as valid UTF-8 on one line, without its end if it is wider than `width`.
inline std::string fitted(std::string_view text, double width, double size = 11) {
  std::string valid;
  meta::append_well_formed(valid, text);
  for (char& c : valid)
    if (c == '\n' || c == '\t') c = ' ';
  if (text_width(valid, size) <= width) return valid;
  double const most = width / (0.62 * size) - 1;
  return std::string(log::fit(valid, most > 0 ? static_cast<std::size_t>(most) : 0)) + "\u2026";
}

/// Returns the words of `text` in lines not wider than `width`. A wider word loses its end.
inline std::vector<std::string> wrapped(std::string_view text, double width, double size = 11) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string_view const word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.empty() && text_width(lines.back(), size) + text_width(word, size) + text_width(" ", size) <= width)
      lines.back() += " " + fitted(word, width, size);
    else lines.push_back(fitted(word, width, size));
  }
  return lines;
}

/// Returns the title of a picture, at its upper left corner.
inline std::string picture_title(std::string_view title) {
  return svg_text(6, 14, fitted(title, picture_width - 12), "p-strong") + "\n";
}

/// Returns a picture that has only a title and a sentence.
inline std::string sentence_picture(std::string_view title, std::string_view sentence) {
  return picture(48, std::string(title) + ": " + std::string(sentence),
                 picture_title(title) + svg_text(6, 34, fitted(sentence, picture_width - 12), "p-soft") + "\n");
}

}  // namespace redco::report::detail
