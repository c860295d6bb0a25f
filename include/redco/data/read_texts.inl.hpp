#pragma once

#include <redco/data/read_texts.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/tokenizer/invalid_utf8.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace redco::data::detail {

REDCO_INLINE std::vector<std::vector<std::string>> read_lines(std::istream& in, std::filesystem::path const& path,
                                                              std::span<std::string const> keys, std::int64_t most,
                                                              double invalid) {
  std::vector<std::vector<std::string>> all;
  each_json_line(in, path, most, invalid, [&](json::json_value const& object, std::string const& where) {
    std::vector<std::string> texts;
    for (std::string const& key : keys) texts.push_back(text_under(object, key, where));
    all.push_back(std::move(texts));
  });
  return all;
}

}  // namespace redco::data::detail

namespace redco {

REDCO_INLINE std::vector<data::text_file> read_text_files(std::span<std::string const> paths,
                                                          std::span<std::string const> extensions, double invalid) {
  if (paths.empty()) throw error(exit_code::data, "no text was given: name at least one file or folder");
  std::vector<data::text_file> files;
  for (std::string const& path : paths)
    data::detail::each_text_file(path, extensions, [&](std::filesystem::path const& file) {
      std::string text = data::detail::read_text(file, invalid);
      if (text.empty()) return false;
      files.push_back({file.string(), std::move(text)});
      return true;
    });
  return files;
}

REDCO_INLINE std::vector<std::vector<std::string>> read_jsonl(std::filesystem::path const& path,
                                                              std::span<std::string const> keys, std::int64_t most,
                                                              double invalid) {
  std::ifstream in = data::detail::open_json_lines(path);
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
      } else if (data::detail::is_json_lines(file)) {
        for (auto& line : read_jsonl(file, {&key, 1}, 0, invalid)) texts.push_back(std::move(line.front()));
      } else {
        if (std::string text = data::detail::read_text(file, invalid); !text.empty()) texts.push_back(std::move(text));
      }
      return texts.size() > before;
    });
  return texts;
}

REDCO_INLINE data::text_split hold_out(std::vector<data::text_file> files, std::int64_t every) {
  data::text_split split;
  auto const period = static_cast<std::size_t>(every);
  if (files.size() == 1) {
    data::text_file& only = files.front();
    std::size_t const cut = only.text.size() - (only.text.size() + period - 1) / period;
    split.held_out.push_back({only.path, only.text.substr(cut)});
    only.text.resize(cut);
    if (cut > 0) split.train.push_back(std::move(only));
  } else {
    std::size_t const held_out_index = std::min(period, files.size()) / 2;
    for (std::size_t i = 0; i < files.size(); ++i)
      (i % period == held_out_index ? split.held_out : split.train).push_back(std::move(files[i]));
  }
  if (split.train.empty() || split.held_out.empty())
    throw error(exit_code::data, "the text (" + std::to_string(files.size()) +
                                     " files) is too short to hold out a part of it: give more text");
  return split;
}

}  // namespace redco
