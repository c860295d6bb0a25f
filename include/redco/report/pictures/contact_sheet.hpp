#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::report {

/// A small image with a caption. Pixels are row by row from the top, one byte per channel; RGB
/// bytes of a pixel are adjacent.
struct picture_tile {
  int width = 0, height = 0;
  int channels = 1;  ///< 1 for grey, 3 for RGB
  std::vector<std::uint8_t> pixels;
  std::string caption = {};

  /// Returns a grey image from values between 0 (black) and 1 (white). Values outside are cut, and
  /// NaN is black. `width`: number of values in a row.
  static picture_tile grey(std::span<float const> values, int width, std::string caption = {});
};

/// Returns an image as the bytes of a PNG file. Throws `error` with exit code 70 if the number of
/// pixels does not fit the image's size.
std::string png_of(picture_tile const& image);

/// Returns bytes as base64, for URLs of the kind "data:image/png;base64,...".
std::string base64_of(std::string_view bytes);

/// Returns an SVG picture of small images in rows of `columns` images, with their captions. 0: at
/// most 8 images in a row, or 4 if a caption needs several lines. Shows at most 200 images, and of
/// large images only every nth pixel. Throws the errors of png_of().
std::string contact_sheet(std::span<picture_tile const> images, std::string const& title = {}, int columns = 0);

/// Returns an SVG picture of the frames of an episode in their order, six in a row. Of more than 12
/// frames, shows the first, the last, and 10 at equal distances between them. Each frame has its
/// number, unless it has a caption. Throws the errors of png_of().
std::string strip(std::span<picture_tile const> frames, std::string const& title = {});

}  // namespace redco::report

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/report/pictures/contact_sheet.inl.hpp>
#endif
