#pragma once

#include <redco/data/detail/computed_iterator.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace redco::data {

/// An RGB image.
struct image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  /// [height, width, 3]: rows from the top, and red, green and blue of each pixel, 0 to 255
  std::vector<std::uint8_t> pixels = {};

  friend bool operator==(image const&, image const&) = default;
};

/// Returns the image of a PNG, JPEG, PPM or PGM file; the content decides, not the name. Grey
/// becomes RGB, 16 bits become 8, and transparency is ignored. Throws `error` with exit code 65 and
/// the path for a file that is missing, of another format, truncated, damaged, without pixels, over
/// 256 MiB or over 2^26 pixels. PPM and PGM must be binary with values up to 255.
image read_image(std::filesystem::path const& path);

/// Filters of scaling, with the numbers that Pillow gives them. `nearest` takes the nearest pixel;
/// the others weigh the pixels below a pixel.
enum class scaling_filter { nearest, lanczos, bilinear, bicubic, box, hamming };

/// Returns an image scaled to `height` x `width` pixels, each from 1 to 16384; throws `error` with
/// exit code 64 otherwise. The pixels are those of Pillow's filter of that name. The image
/// processors of transformers use `bilinear` unless they say otherwise.
image resized(image const& from, std::int64_t height, std::int64_t width,
              scaling_filter filter = scaling_filter::bilinear);

/// Returns the bytes of a PNG file. `pixels`: [height, width, channels], rows from the top, with 1
/// channel (grey) or 3 (RGB). Requires pixels.size() == height * width * channels.
std::string png_of(std::span<std::uint8_t const> pixels, int height, int width, int channels);

/// Options of image sets.
struct image_options {
  std::int64_t height = 0;        ///< Every image is scaled to this height and width
  std::int64_t width = 0;         ///< 0, with height 0: images keep the size of their file
  bool skip_wrong_files = false;  ///< Reads all files first; skips and counts wrong files and rows
};

/// An image of a set.
struct image_example {
  image picture;
  std::string text;         ///< Name of the class, or text of the table
  std::int64_t label = -1;  ///< Index of the class in image_set::classes(); -1 for a table
  std::string path;
};

/// The image files of a folder or table as a range of examples. An image is read each time that its
/// example is read, so that the set may be larger than memory. Copies share the list of files;
/// threads may read concurrently.
class image_set {
 public:
  using iterator = detail::computed_iterator<image_set, image_example>;

  /// Number of images.
  std::size_t size() const { return entries_->size(); }
  /// Returns an example. Requires 0 <= index < size(). Throws the errors of read_image, with
  /// "path:line: " of the row in front if the set is a table.
  image_example operator[](std::ptrdiff_t index) const;
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, static_cast<std::ptrdiff_t>(size())}; }

  /// Names of the classes, sorted by bytes; empty for a table.
  std::vector<std::string> const& classes() const { return classes_; }
  /// Number of skipped files and rows.
  std::int64_t skipped() const { return skipped_; }
  /// Message about the first skipped file or row.
  std::string const& first_skipped() const { return first_skipped_; }

  /// Reads all images once, and so throws the errors that training would meet later.
  void check() const;

 private:
  struct entry {
    std::filesystem::path path;
    std::string text;
    std::int64_t label;
    std::string where;
  };

  friend image_set read_image_folder(std::filesystem::path const&, image_options const&);
  friend image_set read_image_table(std::filesystem::path const&, std::string const&, std::string const&,
                                    image_options const&);

  image_set(std::string const& from, std::vector<entry> entries, image_options const& options);
  void skip(std::string const& why);

  std::shared_ptr<std::vector<entry> const> entries_;
  image_options options_;
  std::vector<std::string> classes_;
  std::int64_t skipped_ = 0;
  std::string first_skipped_;
};

/// Returns the images in the folders of `root`. Each folder directly in `root` is a class:
/// root/CLASS/..., sorted by path. Hidden files are ignored. `options`: size of the images, and
/// skipping of wrong files. Throws `error` with exit code 65 if `root` is no folder or has no
/// class, a class has no file, or `root` itself has an image. Throws it also if no correct file is
/// left, and with exit code 64 for a wrong size.
///
///     auto const train = redco::data::read_image_folder("flowers", {.height = 32, .width = 32});
///     trainer.fit(train);
image_set read_image_folder(std::filesystem::path const& root, image_options const& options = {});

/// Returns the images of a CSV, TSV or JSONL file: paths under the column `image_column`, relative
/// to the file's folder, and their texts under `text_column`. `options`: size of the images, and
/// skipping of wrong rows and images. Throws the errors of read_table, `error` with exit code 65 if
/// no correct image is left, and with 64 for a wrong size.
image_set read_image_table(std::filesystem::path const& path, std::string const& image_column = "image",
                           std::string const& text_column = "text", image_options const& options = {});

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/images.inl.hpp>
#endif
