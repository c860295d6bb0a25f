#pragma once

#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace redco::data::detail {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Throws `error` with exit code 65 if a file's first bytes (`front`) show that it is no plain
/// text, whatever its name is. The message has the format and a command that converts the file.
inline void refuse_other_formats(std::filesystem::path const& path, std::string_view front) {
  using namespace std::string_view_literals;
  constexpr std::string_view utf16 = "UTF-16 or UTF-32: convert it with iconv -f UTF-16 -t UTF-8";
  constexpr std::pair<std::string_view, std::string_view> formats[] = {
      {"\x1F\x8B"sv, "compressed by gzip: unpack it with gunzip"},
      {"\x28\xB5\x2F\xFD"sv, "compressed by Zstandard: unpack it with unzstd"},
      {"BZh"sv, "compressed by bzip2: unpack it with bunzip2"},
      {"\xFD\x37zXZ\0"sv, "compressed by xz: unpack it with unxz"},
      {"PK\x03\x04"sv, "a ZIP archive: unpack it with unzip"},
      {"PAR1"sv, "a Parquet file: export its texts as JSONL"},
      {"%PDF-"sv, "a PDF: extract its text with pdftotext"},
      {"\0\0\xFE\xFF"sv, utf16},
      {"\xFF\xFE"sv, utf16},
      {"\xFE\xFF"sv, utf16}};
  for (auto const& [magic, what] : formats)
    if (front.starts_with(magic))
      throw error(exit_code::data, "text " + path.string() + " is " + std::string(what) + ", and give the result");
}

}  // namespace redco::data::detail
