#pragma once

#include <redco/data/read_jsonl.hpp>

#include <redco/data/detail/text_format.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <redco/config.hpp>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <utility>

namespace redco {

namespace detail {

inline constexpr std::size_t longest_line = std::size_t{64} << 20;

/// Reads the next line, without its end, into `line`; returns false after the last line. Throws
/// `error` with exit code 65 for a line over 64 MiB before all of it is in memory.
inline bool next_line(std::istream& in, std::string& line, std::string const& where) {
  line.clear();
  auto* const bytes = in.rdbuf();
  int byte = bytes->sbumpc();
  if (byte == std::char_traits<char>::eof()) return false;
  for (; byte != std::char_traits<char>::eof() && byte != '\n'; byte = bytes->sbumpc()) {
    if (line.size() == longest_line)
      throw error(exit_code::data, where + ": the line is longer than 64 MiB; split it, or correct the file");
    line.push_back(static_cast<char>(byte));
  }
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

REDCO_INLINE std::vector<std::vector<std::string>> read_lines(std::istream& in, std::filesystem::path const& path,
                                                              std::span<std::string const> keys, std::int64_t most) {
  std::vector<std::vector<std::string>> all;
  std::string line;
  for (std::int64_t number = 1; most == 0 || std::ssize(all) < most; ++number) {
    std::string const where = path.string() + ":" + std::to_string(number);
    if (!next_line(in, line, where)) break;
    if (number == 1) refuse_other_formats(path, line);
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    json::json_value const object = json::parse_json(line, where);
    if (!object.is_object()) throw error(exit_code::data, where + ": the line is no object; write {\"key\": \"text\"}");
    std::vector<std::string> texts;
    for (std::string const& key : keys) {
      auto const at = object.find(key);
      if (at == object.end() || !at->is_string())
        throw error(exit_code::data, where + ": no text under the key \"" + key + "\"; name the key that holds it");
      texts.push_back(at->get<std::string>());
    }
    all.push_back(std::move(texts));
  }
  if (all.empty()) throw error(exit_code::data, path.string() + " has no line; give a file with examples");
  return all;
}

}  // namespace detail

REDCO_INLINE std::vector<std::vector<std::string>> read_jsonl(std::filesystem::path const& path,
                                                              std::span<std::string const> keys, std::int64_t most) {
  if (!std::filesystem::is_regular_file(path))
    throw error(exit_code::data, path.string() + " is no file: give a JSONL file, an object on each line");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error(exit_code::data, path.string() + " cannot be read: check its permissions");
  return detail::read_lines(in, path, keys, most);
}

}  // namespace redco
