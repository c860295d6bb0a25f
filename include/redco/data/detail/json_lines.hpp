#pragma once

#include <redco/data/detail/text_on_disk.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>

namespace redco::data::detail {

inline constexpr std::size_t longest_line = std::size_t{64} << 20;

/// Throws `error` with exit code 65 for a line over 64 MiB. `where`: "path:line".
[[noreturn]] inline void refuse_long_line(std::string const& where) {
  throw error(exit_code::data, where + ": the line is longer than 64 MiB; split it, or correct the file");
}

/// Returns true if a line, without its end, has nothing but spaces and tabs.
inline bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// Reads the next line, without its end, into `line`. Returns the number of bytes read, including
/// the line's end; 0 after the last line. Throws `error` with exit code 65 for a line over 64 MiB
/// before all of it is in memory.
inline std::size_t next_line(std::istream& in, std::string& line, std::string const& where) {
  line.clear();
  auto* const bytes = in.rdbuf();
  int byte = bytes->sbumpc();
  if (byte == std::char_traits<char>::eof()) return 0;
  for (; byte != std::char_traits<char>::eof() && byte != '\n'; byte = bytes->sbumpc()) {
    if (line.size() == longest_line) refuse_long_line(where);
    line.push_back(static_cast<char>(byte));
  }
  std::size_t const read = line.size() + (byte == '\n' ? 1 : 0);
  if (line.ends_with('\r')) line.pop_back();
  return read;
}

/// Calls `use(line, number, where)` for each line that is not blank, until it returns false.
/// `where` is "path:number". `kind` names the file's content in errors. Throws `error` with exit
/// code 65 for a compressed file, UTF-16, a line over 64 MiB, and more invalid UTF-8 than the share
/// `invalid`.
template <class Use>
void each_line(std::istream& in, std::filesystem::path const& path, std::string const& kind, double invalid,
               Use const& use) {
  std::string line;
  line_encoding encoding;
  for (std::int64_t number = 1;; ++number) {
    std::string const where = path.string() + ":" + std::to_string(number);
    std::size_t const read = next_line(in, line, where);
    if (read == 0) break;
    if (number == 1) refuse_other_formats(path, line, kind);
    encoding.take(line, read, where);
    if (!is_blank(line) && !use(line, number, where)) break;
  }
  encoding.check(invalid);
}

/// Returns the object of a line of JSONL. Throws `error` with exit code 65 for any other line.
inline json::json_value json_object_of(std::string_view line, std::string const& where) {
  json::json_value object = json::parse_json(line, where);
  if (!object.is_object()) throw error(exit_code::data, where + ": the line is no object; write {\"key\": \"text\"}");
  return object;
}

/// Returns the string under `key` of an object. Throws `error` with exit code 65 if there is none.
inline std::string text_under(json::json_value const& object, std::string const& key, std::string const& where) {
  auto const at = object.find(key);
  if (at == object.end() || !at->is_string())
    throw error(exit_code::data, where + ": no text under the key \"" + key + "\"; name the key that holds it");
  return at->get<std::string>();
}

/// Calls `use(object, where)` for the object of each line of a JSONL file, at most `most` times; 0
/// for all lines. `where` is "path:line". Throws the errors of read_jsonl, except for keys.
template <class Use>
void each_json_line(std::istream& in, std::filesystem::path const& path, std::int64_t most, double invalid,
                    Use const& use) {
  std::int64_t objects = 0;
  each_line(in, path, "text", invalid, [&](std::string const& line, std::int64_t, std::string const& where) {
    use(json_object_of(line, where), where);
    return ++objects != most;
  });
  if (objects == 0) throw error(exit_code::data, path.string() + " has no line; give a file with examples");
}

/// Opens a JSONL file. Throws `error` with exit code 65 if it is missing or cannot be read.
inline std::ifstream open_json_lines(std::filesystem::path const& path) {
  if (!std::filesystem::is_regular_file(path))
    throw error(exit_code::data, path.string() + " is no file: give a JSONL file, an object on each line");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error(exit_code::data, path.string() + " cannot be read: check its permissions");
  return in;
}

}  // namespace redco::data::detail
