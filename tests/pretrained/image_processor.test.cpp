#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/pretrained/image_processor.hpp>
#include <redco/data/image_processor.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Returns the image that make_images.py draws.
redco::data::image slopes(std::int64_t height, std::int64_t width) {
  redco::data::image result{height, width, {}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t const value : {x * 19 + y * 3, y * 27 + x, 255 - x * 11 - y * 5})
        result.pixels.push_back(static_cast<std::uint8_t>(value));
  return result;
}

/// Reads the settings `text` for a model of images of 6 x 6 pixels.
redco::data::image_processor read(std::string const& text) {
  temporary_folder const folder;
  std::ofstream(folder.path / "p.json") << text;
  return redco::pretrained::read_image_processor(folder.path / "p.json", 6, 6);
}

/// Returns the message of a refusal, from the name of the file on.
std::string refusal(std::string const& text) {
  std::string const why = refused([&] { read(text); });
  CHECK(why.starts_with("65 "));
  std::size_t const at = why.find("p.json: ");
  return at == std::string::npos ? why : why.substr(at + 8);
}

}  // namespace

TEST_CASE("images are scaled, cropped and normalized as transformers' PIL processors do") {
  redco::json::json_value const rows = redco::json::read_json(test_files() / "image_processors.json");
  for (auto const& row : rows) {
    INFO(row.at("settings").dump());
    redco::data::image_processor const processor = read(row.at("settings").dump());
    redco::data::image const shaped = processor.shaped(slopes(row.at("image")[0], row.at("image")[1]));
    CHECK((shaped.height == 6 && shaped.width == 6));
    std::vector<float> const found = processor.values(shaped), expected = row.at("values").get<std::vector<float>>();
    REQUIRE(found.size() == expected.size());
    float worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      worst = std::max(worst, std::abs(found[i] - expected[i]) / std::max(1.0F, std::abs(expected[i])));
    CHECK(worst < 2e-5F);
  }
  CHECK(rows.size() >= 25);
}

TEST_CASE("a model without preprocessor_config.json scales images to its size") {
  temporary_folder const folder;
  redco::data::image_processor const standard{.height = 6, .width = 8};
  CHECK(redco::pretrained::read_image_processor(folder.path / "none.json", 6, 8) == standard);
  CHECK(read("{}") == redco::data::image_processor{.height = 6, .width = 6});
  CHECK(read(R"({"feature_extractor_type": "ViTFeatureExtractor", "do_convert_rgb": null, "do_pad": false})") ==
        redco::data::image_processor{.height = 6, .width = 6});
}

TEST_CASE("settings of images that are not followed are refused by their key") {
  for (auto const& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {R"({"do_center_crop": true, "crop_size": 6})", "\"do_center_crop\" is true, which is not supported"},
           {R"({"size": {"shortest_edge": 6}})", "\"shortest_edge\" is not supported by the processor of ViT"},
           {R"({"size": {"height": 6}})", "write \"height\" and \"width\", or \"shortest_edge\""},
           {R"({"size": {"height": 6, "width": 6, "longest_edge": 9}})", "\"longest_edge\" is unknown"},
           {R"({"size": 8})", "images have 8 x 8 pixels by \"size\", but the model reads 6 x 6"},
           {R"({"image_processor_type": "DeiTImageProcessor", "crop_size": 8})",
            "by \"crop_size\", but the model reads"},
           {R"({"do_resize": false})", "leave images of any size, but the model reads 6 x 6 pixels"},
           {R"({"resample": 6})", "\"resample\" is no filter of Pillow"},
           {R"({"image_mean": [0.5, 0.5]})", "\"image_mean\" is no list of three numbers"},
           {R"({"image_std": [0.5, 0.5, 0]})", "\"image_std\" has a number that is not positive"},
           {R"({"do_rescale": 3})", "\"do_rescale\" is 3; write true or false"},
           {R"({"do_pad": true})", "\"do_pad\" is unknown and could change what is computed"},
           {R"({"image_processor_type": "DonutImageProcessor"})", "the processors of ViT, DeiT and CLIP are"}}) {
    INFO(text);
    std::string const found = refusal(text);
    INFO(found);
    CHECK(found.find(why) != std::string::npos);
  }
}
