#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::log::detail {

/// A protobuf message that is encoded field by field. Supports the wire types of TensorBoard's
/// event files: varint, 64 bit, bytes, 32 bit.
class protobuf {
 public:
  protobuf& integer(int field, std::int64_t value) {
    varint(tag(field, 0));
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }

  protobuf& real(int field, double value) {
    varint(tag(field, 1));
    little_endian(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }

  protobuf& real(int field, float value) {
    varint(tag(field, 5));
    little_endian(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }

  /// Appends a field to this message: a string, or another message that is already encoded.
  protobuf& bytes(int field, std::string_view value) {
    varint(tag(field, 2));
    varint(value.size());
    text_ += value;
    return *this;
  }

  std::string const& text() const { return text_; }

 private:
  static std::uint64_t tag(int field, unsigned wire_type) { return static_cast<std::uint64_t>(field) << 3 | wire_type; }

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  void little_endian(std::uint64_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) text_ += static_cast<char>(value >> (8 * byte));
  }

  std::string text_;
};

}  // namespace redco::log::detail
