#pragma once

#include "catch.hpp"

#include <redco/log/event_writer.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace run_test {

/// A reader of event files, independent of the writer: every field of a message by number, as bytes
/// (varints as their value in 8 bytes).
struct field_reader {
  std::map<int, std::vector<std::string>> fields;

  explicit field_reader(std::string_view text) {
    while (!text.empty()) {
      std::uint64_t const tag = varint(text);
      std::string value;
      switch (tag & 7) {
        case 0: value = little(varint(text)); break;
        case 1: value = take(text, 8); break;
        case 2: value = take(text, varint(text)); break;
        case 5: value = take(text, 4); break;
        default: FAIL("wire type " << (tag & 7));
      }
      fields[static_cast<int>(tag >> 3)].push_back(value);
    }
  }

  static std::uint64_t varint(std::string_view& text) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      auto const byte = static_cast<unsigned char>(take(text, 1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

  static std::string take(std::string_view& text, std::uint64_t count) {
    if (text.size() < count) throw std::runtime_error("cut message");
    std::string const part(text.substr(0, count));
    text.remove_prefix(count);
    return part;
  }

  static std::string little(std::uint64_t value) {
    std::string text;
    for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(value >> (8 * byte));
    return text;
  }

  bool has(int field) const { return fields.count(field) == 1; }
  std::string bytes(int field) const { return fields.at(field).at(0); }
  field_reader message(int field, std::size_t index = 0) const { return field_reader(fields.at(field).at(index)); }
  std::uint64_t number(int field) const {
    std::uint64_t value = 0;
    std::string const text = bytes(field);
    for (std::size_t byte = text.size(); byte-- > 0;) value = value << 8 | static_cast<unsigned char>(text[byte]);
    return value;
  }
  double real(int field) const {
    std::uint64_t const bits = number(field);
    if (bytes(field).size() == 8) return std::bit_cast<double>(bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
};

inline std::uint64_t little_endian(std::string_view text) {
  std::uint64_t value = 0;
  for (std::size_t byte = text.size(); byte-- > 0;) value = value << 8 | static_cast<unsigned char>(text[byte]);
  return value;
}

/// Returns the payloads of all whole records as TensorBoard reads them: up to the first incomplete
/// record.
inline std::vector<std::string> records_of(std::string_view file) {
  auto unmasked = [](std::uint64_t masked) {
    auto const sum = static_cast<std::uint32_t>(masked) - 0xA282EAD8U;
    return (sum >> 17) | (sum << 15);
  };
  std::vector<std::string> records;
  while (file.size() >= 12) {
    auto const length = little_endian(file.substr(0, 8));
    REQUIRE(unmasked(little_endian(file.substr(8, 4))) == redco::log::crc32c(file.substr(0, 8)));
    if (file.size() < 16 + length) break;
    records.emplace_back(file.substr(12, length));
    REQUIRE(unmasked(little_endian(file.substr(12 + length, 4))) == redco::log::crc32c(records.back()));
    file.remove_prefix(16 + length);
  }
  return records;
}

}  // namespace run_test
