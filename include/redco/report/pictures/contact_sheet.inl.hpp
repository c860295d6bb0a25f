#pragma once

#include <redco/report/pictures/contact_sheet.hpp>

#include <redco/report/detail/picture.hpp>
#include <redco/data/images.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

namespace redco::report::detail {

/// Throws `error` with exit code 70 if the number of pixels does not fit the image's size.
inline void check_size(picture_tile const& image) {
  auto const bytes = std::int64_t{image.width} * image.height * image.channels;
  bool const sides = image.width > 0 && image.height > 0 && image.width <= 16384 && image.height <= 16384;
  if (!sides || (image.channels != 1 && image.channels != 3) || bytes != std::int64_t(image.pixels.size()))
    throw error(exit_code::internal,
                "an image of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels with " +
                    std::to_string(image.channels) + " channels has " + std::to_string(image.pixels.size()) +
                    " bytes: give one byte per pixel, or three");
}

/// Returns the image with every nth pixel of rows and columns, so that no side has more than
/// `most` pixels.
inline picture_tile reduced(picture_tile const& image, int most) {
  int const every = (std::max(image.width, image.height) + most - 1) / most;
  if (every <= 1) return image;
  picture_tile small{(image.width + every - 1) / every, (image.height + every - 1) / every, image.channels, {}, {}};
  for (int y = 0; y < image.height; y += every)
    for (int x = 0; x < image.width; x += every)
      for (int c = 0; c < image.channels; ++c)
        small.pixels.push_back(
            image.pixels[(std::size_t(y) * std::size_t(image.width) + std::size_t(x)) * std::size_t(image.channels) +
                         std::size_t(c)]);
  return small;
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE picture_tile picture_tile::grey(std::span<float const> values, int width, std::string caption) {
  picture_tile image{width, width > 0 ? static_cast<int>(values.size()) / width : 0, 1, {}, std::move(caption)};
  for (float const value : values)
    image.pixels.push_back(value > 0 ? static_cast<std::uint8_t>(std::min(value, 1.0F) * 255 + 0.5F) : std::uint8_t{0});
  return image;
}

REDCO_INLINE std::string png_of(picture_tile const& image) {
  detail::check_size(image);
  return data::png_of(image.pixels, image.height, image.width, image.channels);
}

REDCO_INLINE std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

REDCO_INLINE std::string contact_sheet(std::span<picture_tile const> images, std::string const& title, int columns) {
  if (images.empty()) return detail::sentence_picture(title, "no images");
  constexpr std::size_t most = 200;
  constexpr double gap = 6, margin = 6;
  auto const shown = images.first(std::min(images.size(), most));
  auto const cell_of = [](int across) { return (detail::picture_width - 2 * margin - gap * (across - 1)) / across; };
  int across = columns > 0 ? std::min(columns, 16) : std::clamp(static_cast<int>(shown.size()), 3, 8);
  bool const long_captions = std::any_of(shown.begin(), shown.end(), [&](auto const& one) {
    return detail::text_width(one.caption, 9) > cell_of(across);
  });
  if (columns <= 0 && long_captions) across = std::min(across, 4);
  double const cell = cell_of(across);
  std::string inside = detail::picture_title(title);
  double y = 24;
  for (std::size_t first = 0; first < shown.size(); first += std::size_t(across)) {
    auto const row = shown.subspan(first, std::min(std::size_t(across), shown.size() - first));
    double height = 0;
    std::size_t most_lines = 0;
    for (picture_tile const& image : row) {
      detail::check_size(image);
      height = std::max(height, cell * std::min(4.0, double(image.height) / image.width));
      most_lines = std::max(most_lines, detail::wrapped(image.caption, cell, 9).size());
    }
    double x = margin;
    for (picture_tile const& image : row) {
      inside += "<image x=\"" + detail::coordinate(x) + "\" y=\"" + detail::coordinate(y) + "\" width=\"" +
                detail::coordinate(cell) + "\" height=\"" + detail::coordinate(height) +
                "\" href=\"data:image/png;base64," + base64_of(png_of(detail::reduced(image, 256))) + "\"/>";
      double line = y + height;
      for (std::string const& words : detail::wrapped(image.caption, cell, 9))
        inside += detail::svg_text(x + cell / 2, line += 10, words, "p-mid p-small p-soft");
      inside += "\n";
      x += cell + gap;
    }
    y += height + gap + 10 * static_cast<double>(most_lines);
  }
  if (shown.size() < images.size()) {
    inside += detail::svg_text(margin, y + 8,
                               "the first " + std::to_string(most) + " of " + std::to_string(images.size()) + " images",
                               "p-soft") +
              "\n";
    y += 16;
  }
  return detail::picture(y + 4, title + ": " + std::to_string(shown.size()) + " images", inside);
}

REDCO_INLINE std::string strip(std::span<picture_tile const> frames, std::string const& title) {
  constexpr std::size_t most = 12;
  std::size_t const count = std::min(frames.size(), most);
  std::vector<picture_tile> shown;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const index = frames.size() <= most ? i : i * (frames.size() - 1) / (most - 1);
    shown.push_back(frames[index]);
    if (shown.back().caption.empty()) shown.back().caption = std::to_string(index);
  }
  return contact_sheet(shown, title, 6);
}

}  // namespace redco::report
