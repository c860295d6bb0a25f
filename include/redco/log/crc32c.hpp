#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco::log::detail {

inline constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1U ? 0x82F63B78U : 0U);
    table[byte] = rest;
  }
  return table;
}();

}  // namespace redco::log::detail

namespace redco::log {

/// Returns the CRC-32C checksum (Castagnoli, RFC 3720 appendix B.4) of `bytes`, as used by
/// TensorBoard's event files. `before` is the checksum of preceding bytes: crc32c(b, crc32c(a)) ==
/// crc32c(ab).
constexpr std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) {
  std::uint32_t sum = ~before;
  for (char byte : bytes) sum = (sum >> 8) ^ detail::crc32c_table[(sum ^ static_cast<unsigned char>(byte)) & 0xFFU];
  return ~sum;
}

}  // namespace redco::log
