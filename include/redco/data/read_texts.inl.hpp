#pragma once

#include <redco/data/read_texts.hpp>

#include <redco/data/read_jsonl.hpp>
#include <redco/data/read_text_files.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco {

REDCO_INLINE std::vector<std::string> read_texts(std::span<std::string const> paths, std::string const& key) {
  if (paths.empty()) read_text_files(paths);  // which says so
  std::vector<std::string> texts;
  for (std::string const& path : paths) {
    if (path.ends_with(".jsonl")) {
      for (auto& line : read_jsonl(path, {&key, 1})) texts.push_back(std::move(line.front()));
    } else {
      for (text_file& file : read_text_files({&path, 1})) texts.push_back(std::move(file.text));
    }
  }
  return texts;
}

}  // namespace redco
