#pragma once

#include <redco/pretrained/image_processor.hpp>

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace redco::pretrained::detail {

using three = std::array<double, 3>;

/// The defaults of an image processor of transformers.
struct known_processor {
  std::string_view name;  ///< Begin of the class's name, as in "ViTImageProcessor"
  std::int64_t size;      ///< Height and width, or the shorter edge; 0: those of the model
  bool shorter_edge;      ///< True if a size that is one number is that of the shorter edge
  data::scaling_filter filter;
  bool crops;  ///< True if the processor can crop
  three mean, deviation;
};
inline constexpr known_processor known_processors[] = {
    {"ViT", 0, false, data::scaling_filter::bilinear, false, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}},
    {"DeiT", 256, false, data::scaling_filter::bicubic, true, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}},
    {"CLIP",
     224,
     true,
     data::scaling_filter::bicubic,
     true,
     {0.48145466, 0.4578275, 0.40821073},
     {0.26862954, 0.26130258, 0.27577711}}};

inline known_processor const& processor_of(config_reader& c) {
  json::json_value const* name = c.find("image_processor_type");
  json::json_value const* const older = c.find("feature_extractor_type");
  if (name == nullptr) name = older;
  if (name == nullptr) return known_processors[0];
  for (known_processor const& one : known_processors)
    for (char const* const kind : {"ImageProcessor", "ImageProcessorFast", "FeatureExtractor"})
      if (*name == std::string(one.name) + kind) return one;
  c.refuse(c.is("image_processor_type", *name) + ", which is not supported; the processors of ViT, DeiT and CLIP are");
}

/// Returns a list of three numbers, one of each colour.
inline three read_colours(config_reader& c, std::string_view key, three const& standard) {
  json::json_value const* const list = c.find(key);
  if (list == nullptr) return standard;
  bool const fits = list->is_array() && list->size() == 3 &&
                    std::all_of(list->begin(), list->end(), [](auto const& one) { return one.is_number(); });
  if (!fits) c.refuse("\"" + std::string(key) + "\" is no list of three numbers; correct it");
  return list->get<three>();
}

/// Reads a size under `key`: one number, {"height", "width"}, or {"shortest_edge"}. Returns the
/// height and the width; for the size of a shorter edge, sets `shortest` and returns {0, 0}.
inline std::array<std::int64_t, 2> read_size(config_reader& c, std::string_view key, bool is_shorter_edge,
                                             std::int64_t& shortest) {
  json::json_value const* const value = c.find(key);
  if (!value->is_object()) {
    std::int64_t const one = c.extent({key}, 0);
    if (!is_shorter_edge) return {one, one};
    shortest = one;
    return {0, 0};
  }
  config_reader inner(*value, c.source() + ": " + std::string(key));
  std::array<std::int64_t, 2> const both{inner.extent({"height"}, 0), inner.extent({"width"}, 0)};
  shortest = inner.extent({"shortest_edge"}, 0);
  inner.refuse_unknown();
  if ((both[0] == 0 || both[1] == 0) == (shortest == 0))
    c.refuse(c.is(key, *value) + "; write \"height\" and \"width\", or \"shortest_edge\"");
  return both;
}

/// Reads the keys of scaling and of the crop into `read`.
inline void read_shape(config_reader& c, known_processor const& by, data::image_processor& read, std::int64_t height,
                       std::int64_t width) {
  if (c.flag("do_resize", true)) {
    read.height = by.size == 0 ? height : by.shorter_edge ? 0 : by.size;
    read.width = by.size == 0 ? width : by.shorter_edge ? 0 : by.size;
    read.shortest_edge = by.shorter_edge ? by.size : 0;
    if (json::json_value const* const size = c.find("size"); size != nullptr) {
      auto const [rows, columns] = read_size(c, "size", by.shorter_edge, read.shortest_edge);
      read.height = rows, read.width = columns;
      if (read.shortest_edge != 0 && !by.shorter_edge)
        c.refuse(c.is("size", *size) + ": \"shortest_edge\" is not supported by the processor of " +
                 std::string(by.name) + "; write \"height\" and \"width\"");
    }
    read.filter = static_cast<data::scaling_filter>(c.integer({"resample"}, static_cast<std::int64_t>(by.filter), 0));
    if (read.filter > data::scaling_filter::hamming)
      c.refuse("\"resample\" is no filter of Pillow; write a number from 0 to 5");
  } else {
    c.skip({"size", "resample"});
  }
  if (!c.flag("do_center_crop", by.crops)) return c.skip({"crop_size"});
  if (!by.crops)
    c.refuse("\"do_center_crop\" is true, which is not supported by the processor of " + std::string(by.name) +
             "; set it to false");
  std::int64_t edge = 0;
  read.crop_height = height, read.crop_width = width;
  if (c.find("crop_size") == nullptr) return;
  auto const [rows, columns] = read_size(c, "crop_size", false, edge);
  if (edge != 0) c.refuse("\"crop_size\" has \"shortest_edge\"; write \"height\" and \"width\"");
  read.crop_height = rows, read.crop_width = columns;
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

REDCO_INLINE data::image_processor read_image_processor(std::filesystem::path const& file, std::int64_t height,
                                                        std::int64_t width) {
  data::image_processor read{.height = height, .width = width};
  if (!std::filesystem::exists(file)) return read;
  json::json_value const settings = json::read_json(file);
  config_reader c(settings, file.string());
  detail::known_processor const& by = detail::processor_of(c);
  read.height = read.width = 0;
  detail::read_shape(c, by, read, height, width);
  bool const crops = read.crop_height > 0;
  std::int64_t const rows = crops ? read.crop_height : read.height, columns = crops ? read.crop_width : read.width;
  if (rows != height || columns != width)
    c.refuse(rows == 0 ? "\"do_resize\" and \"do_center_crop\" leave images of any size, but the model reads " +
                             std::to_string(height) + " x " + std::to_string(width) + " pixels; set one to true"
                       : "images have " + std::to_string(rows) + " x " + std::to_string(columns) + " pixels by \"" +
                             (crops ? "crop_size" : "size") + "\", but the model reads " + std::to_string(height) +
                             " x " + std::to_string(width) + "; make them equal");
  double const factor = c.real("rescale_factor", 1.0 / 255, 0, 1e6);
  read.factor = c.flag("do_rescale", true) ? factor : 1;
  detail::three const mean = detail::read_colours(c, "image_mean", by.mean),
                      deviation = detail::read_colours(c, "image_std", by.deviation);
  if (c.flag("do_normalize", true)) read.mean = mean, read.deviation = deviation;
  else read.mean = {0, 0, 0}, read.deviation = {1, 1, 1};
  for (double const one : read.deviation)
    if (!(one > 0)) c.refuse("\"image_std\" has a number that is not positive; correct it");
  c.skip({"do_convert_rgb", "processor_class", "auto_map", "data_format", "input_data_format", "return_tensors",
          "device", "default_to_square", "disable_grouping", "_valid_processor_keys"});
  c.refuse_unknown();
  return read;
}

}  // namespace redco::pretrained
