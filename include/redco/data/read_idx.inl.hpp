#pragma once

#include <redco/data/read_idx.hpp>

#include <redco/data/detail/text_on_disk.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/meta/hexadecimal.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace redco::data::detail {

/// Type of the elements of an IDX file.
struct idx_type {
  unsigned char code;     ///< Byte 2 of the file
  std::int64_t bytes;     ///< Bytes of an element
  std::string_view name;  ///< Name for messages
};

/// The types of IDX, in the order of the alternatives of idx_array::elements.
inline constexpr std::array<idx_type, 6> idx_types{
    {{0x08, 1, "u8"}, {0x09, 1, "i8"}, {0x0B, 2, "i16"}, {0x0C, 4, "i32"}, {0x0D, 4, "f32"}, {0x0E, 8, "f64"}}};

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// Returns a shape for messages, such as "60000 x 28 x 28".
inline std::string idx_shape_text(std::vector<std::int64_t> const& shape) {
  std::string text;
  for (std::int64_t const size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

/// Returns the index of the type in idx_types. `front` is the beginning of the file. Throws `error`
/// with exit code 65 if `front` is not the beginning of an IDX file.
inline std::size_t idx_type_of(std::filesystem::path const& path, std::string_view front) {
  if (front.size() < 4)
    throw error(exit_code::data, path.string() + " is no IDX file: it has " + std::to_string(front.size()) +
                                     " bytes, fewer than 4; give the unpacked file of the data set");
  if (front[0] != 0 || front[1] != 0) {
    refuse_other_formats(path, front, "IDX file");
    throw error(exit_code::data, path.string() + " is no IDX file: it begins with the bytes " +
                                     meta::hexadecimal(front[0]) + " " + meta::hexadecimal(front[1]) +
                                     " instead of 00 00; give the unpacked file of the data set");
  }
  auto const* const type = std::find_if(idx_types.begin(), idx_types.end(), [&](idx_type const& known) {
    return known.code == static_cast<unsigned char>(front[2]);
  });
  if (type == idx_types.end())
    throw error(exit_code::data, path.string() + " has elements of the unknown type " + meta::hexadecimal(front[2]) +
                                     "; convert them to 08 (u8), 09 (i8), 0B (i16), 0C (i32), 0D (f32) or 0E (f64)");
  if (front[3] == 0)
    throw error(exit_code::data, path.string() + " has no dimension (byte 3 is 00); give a file with examples");
  return static_cast<std::size_t>(type - idx_types.begin());
}

/// Returns the sizes of the dimensions, which are big-endian in `front` after byte 4.
inline std::vector<std::int64_t> idx_shape_of(std::filesystem::path const& path, std::string_view front) {
  std::size_t const dimensions = static_cast<unsigned char>(front[3]);
  std::size_t const header = 4 + 4 * dimensions;
  if (front.size() < header)
    throw error(exit_code::data, path.string() + " has " + std::to_string(front.size()) + " bytes, fewer than the " +
                                     std::to_string(header) + " of a header with " + std::to_string(dimensions) +
                                     (dimensions == 1 ? " dimension" : " dimensions") + "; copy or download it again");
  std::vector<std::int64_t> shape(dimensions, 0);
  for (std::size_t i = 0; i < 4 * dimensions; ++i)
    shape[i / 4] = shape[i / 4] * 256 + static_cast<unsigned char>(front[4 + i]);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    throw error(exit_code::data, path.string() + " has no element: its shape is " + idx_shape_text(shape) +
                                     "; give a file with examples");
  return shape;
}

/// Returns `count` big-endian elements of the file from byte `position` on.
template <class T>
std::vector<T> idx_values(diag::input_file const& file, std::uint64_t position, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  auto const bytes = std::as_writable_bytes(std::span(values));
  file.read(position, bytes);
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little)
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) std::reverse(&bytes[i], &bytes[i] + sizeof(T));
  return values;
}

template <std::size_t... Index>
idx_array::elements idx_elements(diag::input_file const& file, std::uint64_t position, std::int64_t count,
                                 std::size_t type, std::index_sequence<Index...>) {
  idx_array::elements values;
  auto const read = [&]<std::size_t I>() {
    using vector = std::variant_alternative_t<I, idx_array::elements>;
    static_assert(idx_types[I].bytes == sizeof(typename vector::value_type));
    if (I == type) values.emplace<I>(idx_values<typename vector::value_type>(file, position, count));
  };
  (read.template operator()<Index>(), ...);
  return values;
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE idx_array read_idx(std::filesystem::path const& path) {
  diag::input_file const file(path);
  std::string front(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 4 + 4 * 255)), '\0');
  file.read(0, std::as_writable_bytes(std::span(front)));
  std::size_t const type = detail::idx_type_of(path, front);
  idx_array read{path.string(), detail::idx_shape_of(path, front), {}};
  std::int64_t count = 1;
  for (std::int64_t const size : read.shape) count = shape::saturating_multiply(count, size);
  detail::idx_type const& element = detail::idx_types[type];
  std::uint64_t const header = 4 + 4 * read.shape.size();
  std::int64_t const bytes =
      shape::saturating_add(static_cast<std::int64_t>(header), shape::saturating_multiply(count, element.bytes));
  if (file.size() != static_cast<std::uint64_t>(bytes))
    throw error(exit_code::data, read.path + " has " + std::to_string(file.size()) + " bytes, but its shape " +
                                     detail::idx_shape_text(read.shape) + " of " + std::string(element.name) +
                                     " needs " + (bytes == shape::saturated ? "over 2^63" : std::to_string(bytes)) +
                                     "; copy or download it again");
  read.values = detail::idx_elements(file, header, count, type,
                                     std::make_index_sequence<std::variant_size_v<idx_array::elements>>());
  return read;
}

REDCO_INLINE void idx_array::refuse_type(std::size_t asked) const {
  throw error(exit_code::data, path + " has elements of type " + std::string(detail::idx_types[values.index()].name) +
                                   ", not " + std::string(detail::idx_types[asked].name) + "; read them as that type");
}

}  // namespace redco::data
