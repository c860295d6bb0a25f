#pragma once

#include <redco/data/images.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace redco::data {

/// Steps from an image to the numbers that a vision model reads: scaling, a crop around the center,
/// and (factor * value - mean) / deviation for each colour. The image processors of transformers
/// have these settings. pretrained::read_image_processor() reads them from a file.
struct image_processor {
  std::int64_t height = 0, width = 0;  ///< Size to which every image is scaled; 0: not scaled
  /// Size of the shorter edge to which every image is scaled, instead of `height` and `width`. The
  /// longer edge keeps the ratio of both. 0: unused
  std::int64_t shortest_edge = 0;
  scaling_filter filter = scaling_filter::bilinear;
  /// Size of the part around the center that is kept; black pixels surround smaller images. 0: all
  std::int64_t crop_height = 0, crop_width = 0;
  double factor = 1.0 / 255;  ///< Factor on the values of pixels, which are from 0 to 255
  /// Means and deviations of red, green and blue
  std::array<double, 3> mean = {0.5, 0.5, 0.5}, deviation = {0.5, 0.5, 0.5};

  /// Returns an image after scaling and crop. Throws the errors of resized().
  image shaped(image const& from) const;

  /// Returns the numbers of an image that shaped() returned, `[height, width, 3]`.
  std::vector<float> values(image const& shaped) const;

  friend bool operator==(image_processor const&, image_processor const&) = default;
};

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/image_processor.inl.hpp>
#endif
