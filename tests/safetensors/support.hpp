#pragma once

#include "temporary_folder.hpp"

#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ckpt_test {

inline void put(std::filesystem::path const& path, std::string const& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string get(std::filesystem::path const& path) { return redco::diag::input_file(path).text(1u << 30); }

/// Returns the bytes of a file: the 8-byte length, the header, the data.
inline std::string safetensors_bytes(std::string const& header, std::string const& data = "") {
  std::string prefix(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) prefix[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return prefix + header + data;
}

/// The error that a call throws: code and text. The code is `done` if it throws none.
struct thrown {
  redco::exit_code code = redco::exit_code::done;
  std::string text;
};

template <class Call>
thrown error_of(Call call) {
  try {
    call();
  } catch (redco::error const& failure) {
    return {failure.code(), failure.what()};
  }
  return {};
}

inline bool has(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace ckpt_test
