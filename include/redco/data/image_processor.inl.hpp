#pragma once

#include <redco/data/image_processor.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>

namespace redco::data::detail {

/// Returns the part of `size` pixels around the center of a dimension of `from` pixels: the index
/// of the first kept pixel, negative if black pixels come first. transformers rounds down for
/// smaller parts and up for larger ones.
inline std::int64_t first_kept(std::int64_t from, std::int64_t size) {
  return size <= from ? (from - size) / 2 : -((size - from + 1) / 2);
}

inline image center_of(image const& from, std::int64_t height, std::int64_t width) {
  image part{height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 3))};
  std::int64_t const top = first_kept(from.height, height), left = first_kept(from.width, width);
  std::int64_t const begin = std::max<std::int64_t>(0, -left), end = std::min(width, from.width - left);
  for (std::int64_t y = std::max<std::int64_t>(0, -top); y < std::min(height, from.height - top); ++y) {
    auto const row = from.pixels.begin() + ((y + top) * from.width + left) * 3;
    std::copy(row + begin * 3, row + end * 3, part.pixels.begin() + (y * width + begin) * 3);
  }
  return part;
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE image image_processor::shaped(image const& from) const {
  std::int64_t rows = height, columns = width;
  if (shortest_edge > 0) {
    bool const is_wide = from.width > from.height;
    std::int64_t const longer = shortest_edge * std::max(from.height, from.width) / std::min(from.height, from.width);
    rows = is_wide ? shortest_edge : longer;
    columns = is_wide ? longer : shortest_edge;
  }
  image const scaled = rows > 0 ? resized(from, rows, columns, filter) : from;
  return crop_height > 0 ? detail::center_of(scaled, crop_height, crop_width) : scaled;
}

REDCO_INLINE std::vector<float> image_processor::values(image const& shaped) const {
  std::vector<float> all(shaped.pixels.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>((factor * shaped.pixels[i] - mean[i % 3]) / deviation[i % 3]);
  return all;
}

}  // namespace redco::data
