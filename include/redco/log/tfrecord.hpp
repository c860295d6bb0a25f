#pragma once

#include <redco/log/crc32c.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace redco::log {

/// Returns one record of a TFRecord file, with little-endian numbers: u64 length, masked CRC-32C of
/// the length, `payload`, masked CRC-32C of the payload. At an incomplete record, readers stop
/// after the last complete one.
inline std::string tfrecord(std::string_view payload) {
  auto masked = [](std::string_view bytes) {
    std::uint32_t const sum = crc32c(bytes);
    return ((sum >> 15) | (sum << 17)) + 0xA282EAD8U;
  };
  auto append = [](std::string& text, std::uint64_t value, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) text += static_cast<char>(value >> (8 * byte));
  };
  std::string record;
  record.reserve(payload.size() + 16);
  append(record, payload.size(), 8);
  append(record, masked(record), 4);
  record += payload;
  append(record, masked(payload), 4);
  return record;
}

}  // namespace redco::log
