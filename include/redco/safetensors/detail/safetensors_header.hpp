#pragma once

#include <redco/safetensors/file_dtype.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace redco::safetensors::detail {

/// A reader of safetensors headers that checks all rules of the format. It checks every
/// multiplication for overflow, and the memory that it allocates does not depend on numbers that
/// the header states.
class safetensors_header {
 public:
  /// Maximum size of a header in bytes, as in Hugging Face's safetensors. A longer header is
  /// refused.
  static constexpr std::uint64_t most_bytes = 100'000'000;
  /// Maximum number of JSON values in a header: enough for 100,000 tensors. Bounds the memory for a
  /// header of many tiny values.
  static constexpr std::size_t most_values = 1'000'000;
  /// Two maximum sizes in bytes: of one tensor's entry in a header (a name, 64 sizes and the rest),
  /// and of metadata and padding together.
  static constexpr std::size_t most_of_entry = 8 << 10;
  static constexpr std::size_t most_besides = 16 << 20;
  /// Maximum number of dimensions of a tensor: some functions of libtorch support 64, and none
  /// supports more.
  static constexpr std::size_t most_dimensions = 64;

  /// A counter of bytes, entries and values in a header, which is read piece by piece. Refuses a
  /// header that is too large before it is read completely and parsed. Values are counted by the
  /// comma or opening bracket before each value.
  struct measure {
    std::size_t bytes = 0;
    std::size_t entries = 0;
    std::size_t values = 0;

    /// Counts the next piece of a header's text. Throws `error` with exit code 65 if the header is
    /// too large.
    void add(std::string_view piece, std::string const& source) {
      bytes += piece.size();
      for (char const c : piece) {
        entries += c == '{';
        values += (c == '{') | (c == '[') | (c == ',');
      }
      if (values > most_values) fail(source, "its header has more than " + std::to_string(most_values) + " values");
      if (bytes > most_besides + entries * most_of_entry)
        fail(source, "its header continues after " + std::to_string(bytes) + " bytes with " + std::to_string(entries) +
                         " entries or less");
    }
  };

  /// Returns a header's descriptions of tensors, in the order of the tensors' bytes. `data_bytes`
  /// is the number of bytes that follow the header in the file. Throws `error` with exit code 65 if
  /// the header is invalid.
  static std::vector<safetensors_entry> read(std::string_view text, std::uint64_t data_bytes,
                                             std::string const& source) {
    if (text.starts_with("\xef\xbb\xbf")) fail(source, "its header begins with a byte order mark");
    json::json_value const header =
        json::parse_json(text, source, {.bytes = most_bytes, .depth = 8, .values = most_values});
    if (!header.is_object()) fail(source, "its header is not a JSON object");
    std::vector<safetensors_entry> entries;
    for (auto const& [name, value] : header.items()) {
      if (name == "__metadata__") {
        check_metadata(value, source);
      } else {
        entries.push_back(read_entry(name, value, source));
      }
    }
    check_ranges(entries, data_bytes, source);
    return entries;
  }

  [[noreturn]] static void fail(std::string const& source, std::string const& why) {
    throw error(exit_code::data,
                source + " is not a valid safetensors file: " + why + ". Fetch or save the file again.");
  }

 private:
  static void check_metadata(json::json_value const& value, std::string const& source) {
    if (!value.is_object()) fail(source, "\"__metadata__\" is not an object");
    for (auto const& [key, text] : value.items()) {
      if (!text.is_string()) fail(source, "\"__metadata__\" has a value that is not a string at " + shown(key));
    }
  }

  static safetensors_entry read_entry(std::string const& name, json::json_value const& value,
                                      std::string const& source) {
    if (!tensor_name(name))
      fail(source, "a tensor's name is empty, too long or has control characters: " + shown(name));
    std::string const tensor = "tensor " + shown(name);
    if (!value.is_object()) fail(source, tensor + " is not described by an object");
    for (std::string const key : {"dtype", "shape", "data_offsets"}) {
      if (!value.contains(key)) fail(source, tensor + " has no \"" + key + "\"");
    }
    if (value.size() != 3) fail(source, tensor + " has fields other than dtype, shape and data_offsets");
    safetensors_entry entry{.name = name, .type = read_dtype(value["dtype"], tensor, source), .shape = {}};

    json::json_value const& shape = value["shape"];
    if (!shape.is_array()) fail(source, tensor + " has a shape that is not an array");
    if (shape.size() > most_dimensions) fail(source, tensor + " has " + std::to_string(shape.size()) + " dimensions");
    // Product of sizes for libtorch's strides, in which a size of 0 counts as 1.
    std::int64_t strides = 1;
    std::int64_t elements = 1;
    for (json::json_value const& size : shape) {
      if (!size.is_number_unsigned()) fail(source, tensor + " has a size that is not an unsigned integer");
      auto const wide = size.get<std::uint64_t>();
      if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        fail(source, tensor + " has a size beyond 2^63-1");
      auto const extent = static_cast<std::int64_t>(wide);
      if (__builtin_mul_overflow(strides, std::max<std::int64_t>(extent, 1), &strides))
        fail(source, tensor + " has a shape that overflows");
      elements *= extent;  // cannot overflow: at most `strides`
      entry.shape.push_back(extent);
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(strides, size_of(entry.type), &bytes))
      fail(source, tensor + " has a size in bytes that overflows");
    bytes = elements * size_of(entry.type);

    json::json_value const& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      fail(source, tensor + " has data_offsets that are not two unsigned integers");
    }
    entry.begin = offsets[0].get<std::uint64_t>();
    entry.end = offsets[1].get<std::uint64_t>();
    if (entry.begin > entry.end) fail(source, tensor + " has data_offsets in reverse");
    if (entry.end - entry.begin != static_cast<std::uint64_t>(bytes)) {
      fail(source, tensor + " has a range of " + std::to_string(entry.end - entry.begin) +
                       " bytes, its shape and dtype need " + std::to_string(bytes));
    }
    return entry;
  }

  static file_dtype read_dtype(json::json_value const& value, std::string const& tensor, std::string const& source) {
    if (!value.is_string()) fail(source, tensor + " has a dtype that is not a string");
    auto const& name = value.get_ref<std::string const&>();
    if (std::optional<file_dtype> const type = file_dtype_of(name)) return *type;
    if (std::find(unsupported_dtypes.begin(), unsupported_dtypes.end(), name) != unsupported_dtypes.end()) {
      throw error(exit_code::data, source + ": " + tensor + " has dtype " + name +
                                       ", which is unsupported: redco cannot hold it. Convert the file first.");
    }
    fail(source, tensor + " has the unknown dtype " + shown(name));
  }

  /// Sorts the descriptions of tensors by their byte ranges. Throws `error` with exit code 65 if
  /// the ranges overlap, leave a hole, or do not cover all `data_bytes` bytes after the header.
  static void check_ranges(std::vector<safetensors_entry>& entries, std::uint64_t data_bytes,
                           std::string const& source) {
    std::sort(entries.begin(), entries.end(), [](safetensors_entry const& a, safetensors_entry const& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::uint64_t running = 0;
    for (safetensors_entry const& entry : entries) {
      if (entry.begin < running) fail(source, "tensor " + shown(entry.name) + " overlaps the one before it");
      if (entry.begin > running) fail(source, "there is a hole before tensor " + shown(entry.name));
      if (entry.end > data_bytes) fail(source, "tensor " + shown(entry.name) + " reaches beyond the end of the file");
      running = entry.end;
    }
    if (running != data_bytes)
      fail(source, std::to_string(data_bytes - running) + " bytes after the last tensor belong to none");
  }
};

}  // namespace redco::safetensors::detail
