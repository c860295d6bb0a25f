#pragma once

#include <redco/data/read_texts.hpp>

#include <redco/data/detail/text_on_disk.hpp>
#include <redco/data/read_text_files.hpp>
#include <redco/tokenizer/invalid_utf8.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace redco::data::detail {

inline constexpr std::size_t longest_line = std::size_t{64} << 20;

/// Reads the next line, without its end, into `line`. Returns the number of bytes read, including
/// the line's end; 0 after the last line. Throws `error` with exit code 65 for a line over 64 MiB
/// before all of it is in memory.
inline std::size_t next_line(std::istream& in, std::string& line, std::string const& where) {
  line.clear();
  auto* const bytes = in.rdbuf();
  int byte = bytes->sbumpc();
  if (byte == std::char_traits<char>::eof()) return 0;
  for (; byte != std::char_traits<char>::eof() && byte != '\n'; byte = bytes->sbumpc()) {
    if (line.size() == longest_line)
      throw error(exit_code::data, where + ": the line is longer than 64 MiB; split it, or correct the file");
    line.push_back(static_cast<char>(byte));
  }
  std::size_t const read = line.size() + (byte == '\n' ? 1 : 0);
  if (line.ends_with('\r')) line.pop_back();
  return read;
}

REDCO_INLINE std::vector<std::vector<std::string>> read_lines(std::istream& in, std::filesystem::path const& path,
                                                              std::span<std::string const> keys, std::int64_t most,
                                                              double invalid) {
  std::vector<std::vector<std::string>> all;
  std::string line;
  line_encoding encoding;
  for (std::int64_t number = 1; most == 0 || std::ssize(all) < most; ++number) {
    std::string const where = path.string() + ":" + std::to_string(number);
    std::size_t const read = next_line(in, line, where);
    if (read == 0) break;
    if (number == 1) refuse_other_formats(path, line);
    encoding.take(line, read, where);
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
  encoding.check(invalid);
  if (all.empty()) throw error(exit_code::data, path.string() + " has no line; give a file with examples");
  return all;
}

}  // namespace redco::data::detail

namespace redco {

REDCO_INLINE std::vector<std::vector<std::string>> read_jsonl(std::filesystem::path const& path,
                                                              std::span<std::string const> keys, std::int64_t most,
                                                              double invalid) {
  if (!std::filesystem::is_regular_file(path))
    throw error(exit_code::data, path.string() + " is no file: give a JSONL file, an object on each line");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error(exit_code::data, path.string() + " cannot be read: check its permissions");
  return data::detail::read_lines(in, path, keys, most, invalid);
}

}  // namespace redco

namespace redco::data::detail {

/// Appends to `texts` the string under `key` of each object in a .json file. The file has an array
/// of objects, or one object per line.
inline void append_json(std::filesystem::path const& path, std::string const& key, double invalid,
                        std::vector<std::string>& texts) {
  std::string whole = read_text(path, 1);  // invalid UTF-8 is counted below
  std::size_t const begin = whole.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || whole[begin] != '[') {
    std::istringstream lines(std::move(whole));
    for (auto& line : read_lines(lines, path, {&key, 1}, 0, invalid)) texts.push_back(std::move(line.front()));
    return;
  }
  check_encoding(path, whole, invalid);
  json::json_value const array = json::parse_json(tokenizer::well_formed(whole), path.string());
  for (std::size_t i = 0; i < array.size(); ++i) {
    auto const* const object = array[i].is_object() ? &array[i] : nullptr;
    auto const at = object != nullptr ? object->find(key) : array[i].end();
    if (object == nullptr || at == object->end() || !at->is_string())
      throw error(exit_code::data, path.string() + ": element " + std::to_string(i + 1) +
                                       " has no text under the key \"" + key + "\"; name the key that holds it");
    texts.push_back(at->get<std::string>());
  }
}

}  // namespace redco::data::detail

namespace redco {

REDCO_INLINE std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key,
                                                 double invalid) {
  // read_text_files throws the error for an empty list of paths.
  if (paths.empty()) read_text_files(paths);
  std::vector<std::string> texts;
  for (std::string const& path : paths)
    data::detail::each_text_file(path, {}, [&](std::filesystem::path const& file) {
      if (std::filesystem::is_empty(file)) return false;
      std::string const extension = data::detail::lower_extension(file);
      std::size_t const before = texts.size();
      if (extension == ".json") {
        data::detail::append_json(file, key, invalid, texts);
      } else if (extension == ".jsonl" || extension == ".ndjson") {
        for (auto& line : read_jsonl(file, {&key, 1}, 0, invalid)) texts.push_back(std::move(line.front()));
      } else {
        if (std::string text = data::detail::read_text(file, invalid); !text.empty()) texts.push_back(std::move(text));
      }
      return texts.size() > before;
    });
  return texts;
}

}  // namespace redco
