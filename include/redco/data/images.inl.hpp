#pragma once

#include <redco/data/images.hpp>

#include <redco/data/detail/stb.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/data/read_table.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/meta/hexadecimal.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace redco::data::detail {

inline constexpr std::int64_t most_pixels = std::int64_t{1} << 26;
inline constexpr std::string_view png_magic = "\x89PNG\r\n\x1A\n";
inline constexpr std::string_view jpeg_magic = "\xFF\xD8\xFF";

[[noreturn]] inline void refuse_image(std::filesystem::path const& path, std::string const& why) {
  throw error(exit_code::data, "image " + path.string() + " " + why);
}

inline void check_image_size(std::filesystem::path const& path, std::int64_t height, std::int64_t width) {
  std::string const size = std::to_string(height) + " x " + std::to_string(width);
  if (height < 1 || width < 1) refuse_image(path, "has no pixel: its size is " + size + "; give another file");
  if (width > most_pixels || height > most_pixels / width)
    refuse_image(path,
                 "has " + size + " pixels, more than the " + std::to_string(most_pixels) + " allowed; scale it down");
}

/// Returns the big-endian number in `count` bytes from byte `begin` on.
inline std::uint32_t big_endian(std::string_view bytes, std::size_t begin, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = begin; i < begin + count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Returns the CRC-32 of ISO 3309, which PNG uses.
inline std::uint32_t crc_32(std::string_view bytes) {
  static constexpr auto remainders = [] {
    std::array<std::uint32_t, 256> all{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      all[i] = i;
      for (int bit = 0; bit < 8; ++bit) all[i] = all[i] >> 1 ^ (all[i] % 2 == 1 ? 0xEDB88320U : 0U);
    }
    return all;
  }();
  std::uint32_t crc = ~std::uint32_t{0};
  for (char const c : bytes) crc = crc >> 8 ^ remainders[(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

/// Throws `error` with exit code 65 if a PNG file is truncated, or a chunk differs from its
/// checksum. stb checks no checksum.
inline void check_png(std::filesystem::path const& path, std::string_view bytes) {
  std::string_view type;
  for (std::size_t at = png_magic.size(); type != "IEND";) {
    std::size_t const left = bytes.size() - at;
    std::size_t const length = left < 12 ? 0 : big_endian(bytes, at, 4);
    if (left < 12 || length > left - 12) refuse_image(path, "ends before its last chunk; copy or download it again");
    type = bytes.substr(at + 4, 4);
    if (crc_32(bytes.substr(at + 4, 4 + length)) != big_endian(bytes, at + 8 + length, 4))
      refuse_image(path, "is damaged: the chunk at byte " + std::to_string(at) +
                             " differs from its checksum; copy or download it again");
    at += 12 + length;
  }
}

/// Throws `error` with exit code 65 if a JPEG file has no end-of-image marker. stb makes grey
/// pixels of the missing bytes.
inline void check_jpeg(std::filesystem::path const& path, std::string_view bytes) {
  for (std::size_t at = 2; at + 2 <= bytes.size();) {
    auto const marker = static_cast<unsigned char>(bytes[at + 1]);
    bool const marks = bytes[at] == '\xFF';
    if (marks && marker == 0xD9) return;
    // In a scan, 0 and the restart markers follow FF. FF itself fills space before a marker.
    bool const has_length = marks && marker >= 0xC0 && marker != 0xFF && (marker < 0xD0 || marker > 0xD8);
    if (has_length && at + 4 > bytes.size()) break;
    at += has_length ? 2 + big_endian(bytes, at + 2, 2) : 1;
  }
  refuse_image(path, "ends before its end-of-image marker; copy or download it again");
}

/// Reads the numbers in the header of a PPM or PGM file.
class pnm_header {
 public:
  explicit pnm_header(std::string_view bytes) : bytes_(bytes) {}

  /// Returns the next number, or -1 if there is none. Skips white space and comments.
  std::int64_t next() {
    while (at_ < bytes_.size() && (is_space(bytes_[at_]) || bytes_[at_] == '#'))
      at_ = bytes_[at_] == '#' ? std::min(bytes_.find('\n', at_), bytes_.size()) : at_ + 1;
    std::int64_t value = -1;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9' && value <= most_pixels; ++at_)
      value = std::max<std::int64_t>(value, 0) * 10 + (bytes_[at_] - '0');
    return value;
  }

  /// Returns the bytes after the header, which ends with one white-space character.
  std::string_view rest() const { return bytes_.substr(std::min(at_ + 1, bytes_.size())); }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  std::string_view bytes_;
  std::size_t at_ = 2;
};

inline image pnm_image(std::filesystem::path const& path, std::string_view bytes) {
  pnm_header header(bytes);
  std::int64_t const width = header.next(), height = header.next(), largest = header.next();
  if (width < 0 || height < 0 || largest < 0)
    refuse_image(path, "has no width, height and largest value in its header; copy or download it again");
  check_image_size(path, height, width);
  if (largest != 255)
    refuse_image(path, "has values up to " + std::to_string(largest) + " instead of 255; convert it to 8-bit PNG");
  std::size_t const channels = bytes[1] == '6' ? 3 : 1;
  std::string_view const values = header.rest();
  std::size_t const needed = static_cast<std::size_t>(height * width) * channels;
  if (values.size() < needed)
    refuse_image(path, "ends after " + std::to_string(values.size()) + " of " + std::to_string(needed) +
                           " bytes of pixels; copy or download it again");
  image read{height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width) * 3)};
  for (std::size_t i = 0; i < read.pixels.size(); ++i)
    read.pixels[i] = static_cast<std::uint8_t>(values[channels == 3 ? i : i / 3]);
  return read;
}

/// Decodes a PNG or JPEG file through stb.
inline image stb_image(std::filesystem::path const& path, std::string_view bytes) {
  auto const* const data = reinterpret_cast<unsigned char const*>(bytes.data());
  int const size = static_cast<int>(bytes.size());
  int width = 0, height = 0, channels = 0;
  bool const known = stb::stbi_info_from_memory(data, size, &width, &height, &channels) != 0;
  if (known) check_image_size(path, height, width);
  std::unique_ptr<unsigned char, decltype(&std::free)> const pixels(
      known ? stb::stbi_load_from_memory(data, size, &width, &height, &channels, 3) : nullptr, &std::free);
  if (!pixels)
    refuse_image(path,
                 std::string("cannot be decoded (") + stb::stbi_failure_reason() + "); copy or download it again");
  image read{height, width, {}};
  read.pixels.assign(pixels.get(), pixels.get() + read.height * read.width * 3);
  return read;
}

/// A pixel along one dimension of a scaled image, as a weighted mean of pixels of the source.
struct scaled_pixel {
  std::int64_t begin;                 ///< Index of the first source pixel
  std::vector<std::int64_t> weights;  ///< Weights of the pixels, which sum up to about 2^22
};

/// Returns half the width of a filter, in pixels.
inline double support_of(scaling_filter filter) {
  switch (filter) {
    case scaling_filter::box: return 0.5;
    case scaling_filter::bicubic: return 2;
    case scaling_filter::lanczos: return 3;
    default: return 1;
  }
}

/// Returns the weight of a filter at the distance `x` from its center, as Pillow computes it.
inline double weight_of(scaling_filter filter, double x) {
  double const pi = std::acos(-1.0), far = std::abs(x);
  auto const sinc = [&](double t) { return t == 0 ? 1 : std::sin(pi * t) / (pi * t); };
  switch (filter) {
    case scaling_filter::box: return x > -0.5 && x <= 0.5 ? 1 : 0;
    case scaling_filter::hamming: return far < 1 ? sinc(far) * (0.54 + 0.46 * std::cos(pi * far)) : 0;
    case scaling_filter::bicubic:
      if (far < 1) return (1.5 * far - 2.5) * far * far + 1;
      return far < 2 ? (((far - 5) * far + 8) * far - 4) * -0.5 : 0;
    case scaling_filter::lanczos: return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    default: return std::max(0.0, 1 - far);
  }
}

/// Returns the source pixel of each pixel, without weights of others. Sums up steps as Pillow does.
inline std::vector<scaled_pixel> nearest_pixels(std::int64_t from, std::int64_t to) {
  double const scale = static_cast<double>(from) / static_cast<double>(to);
  double at = scale * 0.5;
  std::vector<scaled_pixel> all;
  for (std::int64_t i = 0; i < to; ++i, at += scale)
    all.push_back({std::min(static_cast<std::int64_t>(at), from - 1), {1 << 22}});
  return all;
}

inline std::vector<scaled_pixel> scaled_pixels(std::int64_t from, std::int64_t to, scaling_filter filter) {
  if (filter == scaling_filter::nearest) return nearest_pixels(from, to);
  double const scale = static_cast<double>(from) / static_cast<double>(to), step = std::max(scale, 1.0);
  double const support = support_of(filter) * step;
  std::vector<scaled_pixel> all;
  for (std::int64_t i = 0; i < to; ++i) {
    double const center = (static_cast<double>(i) + 0.5) * scale;
    auto const begin = std::max<std::int64_t>(0, static_cast<std::int64_t>(center - support + 0.5));
    auto const end = std::min(from, static_cast<std::int64_t>(center + support + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t at = begin; at < end; ++at)
      sum += weights.emplace_back(weight_of(filter, (static_cast<double>(at) + 0.5 - center) / step));
    scaled_pixel& pixel = all.emplace_back(scaled_pixel{begin, {}});
    for (double const weight : weights) pixel.weights.push_back(std::llround(weight / sum * (1 << 22)));
  }
  return all;
}

/// Scales the middle dimension of [outer, from, inner] bytes to `to`.
inline std::vector<std::uint8_t> scaled(std::vector<std::uint8_t> const& bytes, std::int64_t outer, std::int64_t from,
                                        std::int64_t to, std::int64_t inner, scaling_filter filter) {
  if (from == to) return bytes;
  std::vector<scaled_pixel> const pixels = scaled_pixels(from, to, filter);
  std::vector<std::uint8_t> result;
  result.reserve(static_cast<std::size_t>(outer * to * inner));
  for (std::int64_t block = 0; block < outer; ++block)
    for (scaled_pixel const& pixel : pixels)
      for (std::int64_t k = 0; k < inner; ++k) {
        std::int64_t sum = 1 << 21;
        std::uint8_t const* source = bytes.data() + (block * from + pixel.begin) * inner + k;
        for (std::int64_t const weight : pixel.weights) {
          sum += weight * *source;
          source += inner;
        }
        result.push_back(static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> 22, 0, 255)));
      }
  return result;
}

inline void check_scaled_size(std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1 || height > 16384 || width > 16384)
    throw error(exit_code::usage, "images of " + std::to_string(height) + " x " + std::to_string(width) +
                                      " pixels: give a height and a width from 1 to 16384");
}

inline bool is_image_name(std::filesystem::path const& path) {
  constexpr std::string_view names[] = {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".pnm"};
  return std::find(std::begin(names), std::end(names), lower_extension(path)) != std::end(names);
}

/// Returns the sorted files, or the sorted folders, that lie directly in a folder. Ignores hidden
/// ones.
inline std::vector<std::filesystem::path> entries_of(std::filesystem::path const& folder, bool folders) {
  std::vector<std::filesystem::path> found;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    if (at->is_directory(failure) == folders && !at->path().filename().string().starts_with('.'))
      found.push_back(at->path());
  if (failure)
    throw error(exit_code::data, "image folder " + folder.string() + " cannot be listed: " + failure.message() +
                                     "; give a folder with one folder per class");
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE image read_image(std::filesystem::path const& path) {
  std::string const bytes = diag::input_file(path).text(std::uint64_t{1} << 28);
  if (bytes.empty()) detail::refuse_image(path, "is empty; copy or download it again");
  if (bytes.starts_with(detail::png_magic)) {
    detail::check_png(path, bytes);
    return detail::stb_image(path, bytes);
  }
  if (bytes.starts_with(detail::jpeg_magic)) {
    detail::check_jpeg(path, bytes);
    return detail::stb_image(path, bytes);
  }
  if (bytes.starts_with("P6") || bytes.starts_with("P5")) return detail::pnm_image(path, bytes);
  detail::refuse_other_formats(path, bytes, "image");
  std::string front;
  for (char const c : bytes.substr(0, 4)) front += " " + meta::hexadecimal(c);
  detail::refuse_image(
      path, "is no PNG, JPEG or binary PPM or PGM: it begins with the bytes" + front + "; convert it to PNG");
}

REDCO_INLINE image resized(image const& from, std::int64_t height, std::int64_t width, scaling_filter filter) {
  detail::check_scaled_size(height, width);
  std::vector<std::uint8_t> const narrow = detail::scaled(from.pixels, from.height, from.width, width, 3, filter);
  return {height, width, detail::scaled(narrow, 1, from.height, height, width * 3, filter)};
}

REDCO_INLINE std::string png_of(std::span<std::uint8_t const> pixels, int height, int width, int channels) {
  std::string png;
  detail::stb::stbi_write_png_to_func(
      [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<char const*>(data), static_cast<std::size_t>(size));
      },
      &png, width, height, channels, pixels.data(), width * channels);
  return png;
}

REDCO_INLINE image_set::image_set(std::string const& from, std::vector<entry> entries, image_options const& options)
    : options_(options) {
  if (options.height != 0 || options.width != 0) detail::check_scaled_size(options.height, options.width);
  if (options.skip_wrong_files)
    std::erase_if(entries, [&](entry const& file) {
      try {
        read_image(file.path);
        return false;
      } catch (error const& wrong) {
        if (wrong.code() != exit_code::data) throw;
        skip(file.where + wrong.what());
        return true;
      }
    });
  if (entries.empty())
    throw error(exit_code::data,
                from + " has no correct image" +
                    (skipped_ == 0 ? std::string("; give a folder or table with images")
                                   : "; the first of " + std::to_string(skipped_) + " wrong ones: " + first_skipped_));
  entries_ = std::make_shared<std::vector<entry> const>(std::move(entries));
}

REDCO_INLINE void image_set::skip(std::string const& why) {
  if (skipped_++ == 0) first_skipped_ = why;
}

REDCO_INLINE image_example image_set::operator[](std::ptrdiff_t index) const {
  entry const& from = (*entries_)[static_cast<std::size_t>(index)];
  try {
    image picture = read_image(from.path);
    if (options_.height > 0) picture = resized(picture, options_.height, options_.width);
    return {std::move(picture), from.text, from.label, from.path.string()};
  } catch (error const& wrong) {
    if (from.where.empty()) throw;
    throw error(wrong.code(), from.where + wrong.what());
  }
}

REDCO_INLINE void image_set::check() const {
  for (std::size_t i = 0; i < size(); ++i) (*this)[static_cast<std::ptrdiff_t>(i)];
}

REDCO_INLINE image_set read_image_folder(std::filesystem::path const& root, image_options const& options) {
  std::string const name = "image folder " + root.string();
  std::vector<image_set::entry> files;
  std::vector<std::string> classes;
  for (auto const& folder : detail::entries_of(root, true)) {
    auto const label = std::ssize(classes);
    classes.push_back(folder.filename().string());
    std::vector<std::filesystem::path> open{folder};
    std::size_t const before = files.size();
    while (!open.empty()) {
      std::filesystem::path const at = std::move(open.back());
      open.pop_back();
      for (auto& file : detail::entries_of(at, false)) files.push_back({std::move(file), classes.back(), label, {}});
      for (auto& deeper : detail::entries_of(at, true)) open.push_back(std::move(deeper));
    }
    if (files.size() == before)
      throw error(exit_code::data, name + ": class " + classes.back() + " has no file; add images or remove it");
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end(),
              [](auto const& a, auto const& b) { return a.path < b.path; });
  }
  if (classes.empty()) throw error(exit_code::data, name + " has no class; put the images into one folder per class");
  for (auto const& file : detail::entries_of(root, false))
    if (detail::is_image_name(file))
      detail::refuse_image(file, "lies in no class; move it into the folder of its class");
  image_set read(name, std::move(files), options);
  read.classes_ = std::move(classes);
  return read;
}

REDCO_INLINE image_set read_image_table(std::filesystem::path const& path, std::string const& image_column,
                                        std::string const& text_column, image_options const& options) {
  std::array<std::string, 2> const columns{image_column, text_column};
  table rows = read_table(path, columns, {.skip_wrong_rows = options.skip_wrong_files});
  std::vector<image_set::entry> files;
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    files.push_back({path.parent_path() / rows.rows[i][0], std::move(rows.rows[i][1]), -1,
                     rows.path + ":" + std::to_string(rows.lines[i]) + ": "});
  image_set read(rows.path, std::move(files), options);
  if (rows.skipped > 0) read.first_skipped_ = rows.first_skipped;
  read.skipped_ += rows.skipped;
  return read;
}

}  // namespace redco::data
