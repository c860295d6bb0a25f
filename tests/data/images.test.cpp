#include "catch.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/data/images.hpp>
#include <redco/diag/error.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace images_test {

using namespace std::string_literals;
using redco::data::image;
using bytes = std::vector<std::uint8_t>;

/// Returns the image from which Pillow made files/images/rgb.png.
image slopes(std::int64_t height, std::int64_t width) {
  image result{height, width, {}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t const value : {x * 19 + y * 3, y * 27 + x, 255 - x * 11 - y * 5})
        result.pixels.push_back(static_cast<std::uint8_t>(value));
  return result;
}

std::filesystem::path write(std::filesystem::path const& path, std::string const& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string ppm(image const& of) {
  return "P6\n# drawn\n" + std::to_string(of.width) + " " + std::to_string(of.height) + "\n255\n" +
         std::string(of.pixels.begin(), of.pixels.end());
}

template <class Call>
std::string refusal(std::filesystem::path const& folder, Call const& call) {
  try {
    call();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    std::string message = e.what();
    for (std::size_t at = 0; (at = message.find(folder.string() + "/")) != std::string::npos;)
      message.erase(at, folder.string().size() + 1);
    return message;
  }
  return "accepted";
}

std::string refused_image(std::string const& content) {
  temporary_folder const folder;
  auto const path = write(folder / "a.png", content);
  return refusal(folder.path, [&] { redco::data::read_image(path); });
}

bytes pixel(image const& of, std::int64_t x, std::int64_t y) {
  auto const* const at = of.pixels.data() + (y * of.width + x) * 3;
  return {at[0], at[1], at[2]};
}

std::filesystem::path sample(std::string const& name) { return test_files() / "images" / name; }

TEST_CASE("PNG and PPM files give the pixels from which they were made") {
  image const made = slopes(5, 7);
  CHECK(redco::data::read_image(sample("rgb.png")) == made);
  temporary_folder const folder;
  CHECK(redco::data::read_image(write(folder / "a.ppm", ppm(made))) == made);
  auto const grey = redco::data::read_image(write(folder / "a.pgm", "P5 2 1 255\n\x07\xFE"s));
  CHECK(grey == image{1, 2, {7, 7, 7, 254, 254, 254}});
  CHECK(redco::data::read_image(write(folder / "b.png", redco::data::png_of(made.pixels, 5, 7, 3))) == made);
}

// The values are those of Pillow 12 after convert("RGB").
TEST_CASE("palettes, 16 bits and transparency become RGB bytes") {
  auto const palette = redco::data::read_image(sample("palette.png"));
  CHECK(bytes(palette.pixels.begin(), palette.pixels.begin() + 12) ==
        bytes{0, 0, 255, 29, 2, 239, 29, 2, 239, 57, 3, 222});
  CHECK(redco::data::read_image(sample("alpha.png")) ==
        image{2, 3, {0, 0, 255, 10, 20, 30, 38, 2, 233, 3, 27, 250, 22, 28, 239, 41, 29, 228}});
  CHECK(redco::data::read_image(sample("grey16.png")).pixels == bytes{0x12, 0x12, 0x12, 255, 255, 255, 0, 0, 0});
}

// libjpeg, which Pillow uses, and stb round the inverse cosine transform differently.
TEST_CASE("JPEG files give the pixels of Pillow up to 2 of 255") {
  struct point {
    std::int64_t x, y;
    std::array<int, 3> value;
  };
  auto const check = [](std::string const& name, std::vector<point> const& points) {
    auto const read = redco::data::read_image(sample(name));
    REQUIRE(read.height == 9);
    REQUIRE(read.width == 13);
    for (auto const& [x, y, value] : points)
      for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(pixel(read, x, y)[c] - value[c]) <= 2);
  };
  check("photo.jpg", {{0, 0, {0, 1, 252}},
                      {12, 0, {225, 13, 124}},
                      {0, 8, {25, 215, 213}},
                      {12, 8, {251, 228, 86}},
                      {6, 4, {129, 114, 169}}});
  check("progressive.jpg",
        {{0, 0, {29, 29, 29}}, {12, 0, {88, 88, 88}}, {0, 8, {158, 158, 158}}, {6, 4, {126, 126, 126}}});
}

// The values are those of Pillow 12: Image.resize((width, height), Image.BILINEAR).
TEST_CASE("scaling gives the bytes of Pillow when it shrinks, enlarges, or does one of each") {
  image const from = slopes(5, 7);
  CHECK(redco::data::resized(from, 2, 3).pixels ==
        bytes{19, 28, 241, 60, 30, 217, 101, 32, 193, 25, 82, 231, 66, 84, 207, 107, 86, 183});
  CHECK(redco::data::resized(from, 5, 7) == from);
  image const tall = redco::data::resized(from, 9, 4);
  REQUIRE(tall.height == 9);
  REQUIRE(tall.width == 4);
  CHECK(bytes(tall.pixels.begin(), tall.pixels.begin() + 24) ==
        bytes{10, 1, 249, 40, 2, 232, 74, 4, 212, 104, 5, 195, 11, 10, 247, 41, 11, 230, 75, 13, 210, 105, 14, 193});
  image const large = redco::data::resized(from, 8, 11);
  CHECK(bytes(large.pixels.begin() + 33, large.pixels.begin() + 66) ==
        bytes{1,   12, 253, 10,  12, 248, 22,  13, 241, 34,  14,  234, 46,  14,  227, 58, 15,
              220, 70, 16,  213, 82, 16,  206, 94, 17,  199, 106, 18,  192, 115, 18,  187});
  CHECK_THROWS_WITH(redco::data::resized(from, 0, 4),
                    "images of 0 x 4 pixels: give a height and a width from 1 to 16384");
}

TEST_CASE("a file that is no image is refused with its first bytes") {
  CHECK(refused_image("") == "image a.png is empty; copy or download it again");
  CHECK(refused_image("GIF89a") ==
        "image a.png is no PNG, JPEG or binary PPM or PGM: it begins with the bytes 47 49 46 38; convert it to PNG");
  CHECK(refused_image("\x1F\x8B\x08") ==
        "image a.png is compressed by gzip: unpack it with gunzip, and give the result");
  CHECK(refused_image("P5\n2").find("a.png has no width, height and largest value") != std::string::npos);
  CHECK(refused_image("P6 3 1 65535\n").find("has values up to 65535 instead of 255") != std::string::npos);
  temporary_folder const folder;
  CHECK(refusal(folder.path, [&] { redco::data::read_image(folder / "absent.png"); }).find("absent.png") !=
        std::string::npos);
}

TEST_CASE("truncated and damaged images are refused at every length") {
  CHECK(refused_image("P6 2 2 255\nabcdefghijk") ==
        "image a.png ends after 11 of 12 bytes of pixels; copy or download it again");
  for (std::string const name : {"rgb.png", "photo.jpg", "progressive.jpg"}) {
    std::string const whole = content_of(sample(name));
    INFO(name);
    temporary_folder const folder;
    for (std::size_t size = 1; size < whole.size(); size += 5)
      REQUIRE_THROWS_AS(redco::data::read_image(write(folder / name, whole.substr(0, size))), redco::error);
    std::string const cut = refused_image(whole.substr(0, whole.size() - 1));
    CHECK(cut.find(name == "rgb.png" ? "ends before its last chunk" : "ends before its end-of-image marker") !=
          std::string::npos);
  }
  std::string damaged = content_of(sample("rgb.png"));
  damaged[50] = static_cast<char>(damaged[50] ^ 1);
  CHECK(refused_image(damaged) ==
        "image a.png is damaged: the chunk at byte 33 differs from its checksum; copy or download it again");
}

TEST_CASE("images without pixels and with too many are refused before memory is allocated") {
  CHECK(refused_image("P6 0 5 255\n") == "image a.png has no pixel: its size is 5 x 0; give another file");
  CHECK(refused_image("P5 30000 30000 255\n") ==
        "image a.png has 30000 x 30000 pixels, more than the 67108864 allowed; scale it down");
  CHECK(refused_image("P5 99999999999999999999 2 255\n").find("more than the 67108864") != std::string::npos);
}

/// A folder with two classes; "bird" has a folder of its own and a hidden file.
struct flock : temporary_folder {
  flock() {
    write(path / "root" / "cat" / "b.ppm", ppm(slopes(2, 3)));
    write(path / "root" / "bird" / "deep" / "a.ppm", ppm(slopes(3, 2)));
    write(path / "root" / "bird" / "z.ppm", ppm(slopes(1, 4)));
    write(path / "root" / "bird" / ".hidden", "no image");
    write(path / "root" / "README", "no image");
  }
  std::filesystem::path root() const { return path / "root"; }
};

TEST_CASE("a folder of classes gives labelled images in the order of their paths") {
  flock const folder;
  auto const all = redco::data::read_image_folder(folder.root());
  CHECK(all.classes() == std::vector<std::string>{"bird", "cat"});
  REQUIRE(all.size() == 3);
  CHECK(all.skipped() == 0);
  std::vector<std::string> texts;
  std::vector<std::int64_t> labels;
  for (auto const& one : all) {
    texts.push_back(one.text);
    labels.push_back(one.label);
  }
  CHECK(texts == std::vector<std::string>{"bird", "bird", "cat"});
  CHECK(labels == std::vector<std::int64_t>{0, 0, 1});
  CHECK(all[0].picture == slopes(3, 2));
  CHECK(all[1].picture == slopes(1, 4));
  CHECK(all[2].path == (folder.root() / "cat" / "b.ppm").string());
  auto const small = redco::data::read_image_folder(folder.root(), {.height = 2, .width = 5});
  for (auto const& one : small) CHECK(one.picture.pixels.size() == 2 * 5 * 3);
  CHECK(small[2].picture == redco::data::resized(slopes(2, 3), 2, 5));
}

TEST_CASE("a wrong file of a folder is named, or skipped and counted") {
  flock const folder;
  write(folder.root() / "bird" / "m.png", "no image");
  write(folder.root() / "cat" / "a.jpg", content_of(sample("photo.jpg")).substr(0, 300));
  auto const all = redco::data::read_image_folder(folder.root());
  CHECK(all.size() == 5);
  CHECK(refusal(folder.path, [&] { all.check(); }).find("image root/bird/m.png is no PNG") == 0);
  CHECK(refusal(folder.path, [&] { all[3]; }).find("image root/cat/a.jpg ends before") == 0);
  auto const correct = redco::data::read_image_folder(folder.root(), {.skip_wrong_files = true});
  CHECK(correct.size() == 3);
  CHECK(correct.skipped() == 2);
  CHECK(correct.first_skipped().find("bird/m.png is no PNG") != std::string::npos);
  CHECK(correct[2].label == 1);
  correct.check();
}

TEST_CASE("folders without classes or images are refused by name") {
  flock const folder;
  auto const refused = [&](std::filesystem::path const& root, redco::data::image_options const& options = {}) {
    return refusal(folder.path, [&] { redco::data::read_image_folder(root, options); });
  };
  CHECK(refused(folder.root() / "cat") ==
        "image folder root/cat has no class; put the images into one folder per class");
  CHECK(refused(folder / "absent").find("image folder absent cannot be listed: ") == 0);
  write(folder.root() / "stray.JPG", "x");
  CHECK(refused(folder.root()) == "image root/stray.JPG lies in no class; move it into the folder of its class");
  std::filesystem::create_directories(folder.root() / "empty");
  CHECK(refused(folder.root()) == "image folder root: class empty has no file; add images or remove it");
  write(folder / "bad/one/a.png", "x");
  CHECK(refused(folder / "bad", {.skip_wrong_files = true})
            .find("image folder bad has no correct image; the first of 1 "
                  "wrong ones: image bad/one/a.png is no PNG") == 0);
  CHECK_THROWS_AS(redco::data::read_image_folder(folder.root() / "..", {.height = 3}), redco::error);
}

TEST_CASE("a table gives images with their texts, and names the row of a wrong image") {
  flock const folder;
  auto const path = write(folder / "captions.tsv",
                          "text\timage\na cat\troot/cat/b.ppm\na bird\troot/bird/z.ppm\nnone\troot/none.png\n"
                          "a cat again\troot/cat/b.ppm\nshort\n");
  auto const read = [&](redco::data::image_options const& options) {
    return redco::data::read_image_table(path, "image", "text", options);
  };
  CHECK(refusal(folder.path, [&] { read({}); }).find("captions.tsv:6: ") == 0);
  auto const correct = read({.height = 2, .width = 3, .skip_wrong_files = true});
  REQUIRE(correct.size() == 3);
  CHECK(correct.skipped() == 2);
  CHECK(correct[0].picture == slopes(2, 3));
  CHECK(correct[2].text == "a cat again");
  CHECK(correct[1].label == -1);
  auto const wrong = redco::data::read_image_table(
      write(folder / "c.jsonl", "{\"picture\": \"no.png\", \"text\": \"x\"}\n"), "picture");
  CHECK(refusal(folder.path, [&] { wrong[0]; }).find("c.jsonl:1: cannot read no.png: ") == 0);
}

TEST_CASE("threads read images of a set concurrently") {
  flock const folder;
  write(folder.root() / "cat" / "c.jpg", content_of(sample("photo.jpg")));
  write(folder.root() / "cat" / "d.png", "\x89PNG\r\n\x1A\nshort");
  auto const all = redco::data::read_image_folder(folder.root());
  std::vector<int> right(4, 0);
  {
    std::vector<std::jthread> threads;
    for (int& count : right)
      threads.emplace_back([&all, &count] {
        for (int round = 0; round < 20; ++round) {
          count += all[2].picture == slopes(2, 3) && all[3].picture.height == 9;
          try {
            all[4];
          } catch (redco::error const&) {
            ++count;
          }
        }
      });
  }
  CHECK(right == std::vector<int>(4, 40));
}

}  // namespace images_test
