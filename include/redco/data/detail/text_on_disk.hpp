#pragma once

#include <redco/tokenizer/invalid_utf8.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/hexadecimal.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::data::detail {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Throws `error` with exit code 65 if a file's first bytes (`front`) show that it is no plain
/// text, whatever its name is. The message begins with `kind`, and has the format and a command
/// that converts the file.
inline void refuse_other_formats(std::filesystem::path const& path, std::string_view front,
                                 std::string const& kind = "text") {
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
  for (auto const& [magic, description] : formats)
    if (front.starts_with(magic))
      throw error(exit_code::data,
                  kind + " " + path.string() + " is " + std::string(description) + ", and give the result");
}

[[noreturn]] inline void refuse_text(std::filesystem::path const& path, std::string const& why) {
  throw error(exit_code::data, "text " + path.string() + " " + why);
}

/// Returns advice for a text of which `bad` of `bytes` bytes are invalid: convert the file, or
/// allow this share of bytes (rounded up to six decimals).
inline std::string encoding_cure(std::size_t bad, std::size_t bytes) {
  std::ostringstream cure;
  cure << "convert it with iconv -t UTF-8 and -f with its encoding, such as LATIN1, or allow this share of bytes with "
       << "--invalid-utf8 " << std::ceil(1e6 * static_cast<double>(bad) / static_cast<double>(bytes)) / 1e6;
  return cure.str();
}

/// Returns the number and the first position of the bytes of a text that are NUL or no UTF-8.
inline tokenizer::invalid_utf8 no_text_in(std::string_view text) {
  tokenizer::invalid_utf8 bad = tokenizer::invalid_utf8_of(text);
  std::size_t const nul = text.find('\0');
  bad.first = std::min(nul, bad.bytes > 0 ? bad.first : nul);
  bad.bytes += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\0'));
  return bad;
}

/// Throws `error` with exit code 65 if too much of a text is NUL or no UTF-8: more than the share
/// `invalid` (0 to 1) of its bytes.
inline void check_encoding(std::filesystem::path const& path, std::string const& text, double invalid) {
  tokenizer::invalid_utf8 const bad = no_text_in(text);
  auto const share = static_cast<double>(bad.bytes) / static_cast<double>(std::max<std::size_t>(1, text.size()));
  if (share <= invalid) return;
  std::ostringstream why;
  why << "has " << bad.bytes << " bytes of " << text.size() << " that are NUL or no UTF-8, the first at byte "
      << bad.first << ": " << encoding_cure(bad.bytes, text.size());
  refuse_text(path, why.str());
}

/// A count of the bytes of a JSONL or CSV file that are not valid UTF-8.
struct line_encoding {
  std::size_t bytes = 0;    ///< Number of bytes read from the file
  std::size_t invalid = 0;  ///< Number of bytes of the file that are not valid UTF-8
  std::string first;        ///< "path:line", value and position of the first invalid byte

  /// Counts the `read` bytes of a line, and replaces invalid bytes of `line` by U+FFFD.
  void take(std::string& line, std::size_t read, std::string const& where) {
    bytes += read;
    tokenizer::invalid_utf8 const found = tokenizer::invalid_utf8_of(line);
    if (found.bytes == 0) return;
    if (invalid == 0)
      first = where + ": 0x" + meta::hexadecimal(line[found.first]) + " at byte " + std::to_string(found.first);
    invalid += found.bytes;
    line = tokenizer::well_formed(line);
  }

  /// Throws `error` with exit code 65 if more than the share `allowed` of the bytes is invalid.
  /// `kind` says in the message which bytes count as invalid.
  void check(double allowed, std::string const& kind = "no UTF-8") const {
    if (bytes == 0 || static_cast<double>(invalid) / static_cast<double>(bytes) <= allowed) return;
    throw error(exit_code::data, first + " is the first of " + std::to_string(invalid) + " bytes of " +
                                     std::to_string(bytes) + " that are " + kind + ": " +
                                     encoding_cure(invalid, bytes));
  }
};

inline std::string read_text(std::filesystem::path const& path, double invalid) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) refuse_text(path, "cannot be read: check its permissions");
  refuse_other_formats(path, text);
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  check_encoding(path, text, invalid);
  return text;
}

/// Returns the file name's extension in lower case, such as ".jsonl".
inline std::string lower_extension(std::filesystem::path const& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

/// Returns true if the extension of a file, in any case of letters, is that of JSONL.
inline bool is_json_lines(std::filesystem::path const& path) {
  std::string const extension = lower_extension(path);
  return extension == ".jsonl" || extension == ".ndjson";
}

inline bool has_extension(std::filesystem::path const& path, std::span<std::string const> extensions) {
  return extensions.empty() || std::find(extensions.begin(), extensions.end(), path.extension()) != extensions.end();
}

inline std::vector<std::filesystem::path> files_below(std::filesystem::path const& folder,
                                                      std::span<std::string const> extensions) {
  std::vector<std::filesystem::path> found;
  std::error_code failure;
  std::filesystem::recursive_directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::end(entry); entry.increment(failure)) {
    // A dangling link counts as no regular file.
    std::error_code unknown;
    if (entry->is_regular_file(unknown) && has_extension(entry->path(), extensions)) found.push_back(entry->path());
  }
  if (failure) refuse_text(folder, "cannot be listed: " + failure.message());
  std::sort(found.begin(), found.end());
  return found;
}

/// Calls use(file) for the file `path`, or for each file below the folder `path` with one of the
/// `extensions`. `use` returns true if the file has text. Throws `error` with exit code 65 if the
/// path is missing or unreadable, or if no file has text.
template <class Use>
void each_text_file(std::filesystem::path const& path, std::span<std::string const> extensions, Use const& use) {
  namespace fs = std::filesystem;
  std::error_code failure;
  auto const kind = fs::status(path, failure).type();
  if (kind == fs::file_type::not_found) refuse_text(path, "does not exist: check the path");
  if (failure) refuse_text(path, "cannot be read: " + failure.message());
  if (kind == fs::file_type::directory) {
    bool some = false;
    for (auto const& file : files_below(path, extensions)) some = use(file) || some;
    if (!some) refuse_text(path, "is a folder without text: check the path and the extensions");
  } else if (kind == fs::file_type::regular) {
    if (!use(path)) refuse_text(path, "is empty: a text needs at least one byte");
  } else {
    refuse_text(path, "is neither a file nor a folder");
  }
}

}  // namespace redco::data::detail
