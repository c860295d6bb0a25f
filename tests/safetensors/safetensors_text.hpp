#pragma once

#include <cstdint>
#include <string>

namespace ckpt_test {

/// Returns a header of one tensor "a" with these fields, as JSON.
inline std::string one(std::string const& dtype, std::string const& shape, std::string const& offsets) {
  return "{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

/// Returns the entry of a tensor of bytes for a header.
inline std::string entry(std::string const& name, std::int64_t begin, std::int64_t end) {
  return "\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(end - begin) + "],\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace ckpt_test
