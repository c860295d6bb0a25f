#pragma once

#include <redco/data/read_text_files.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace redco {

namespace detail {

[[noreturn]] inline void refuse_text(std::filesystem::path const& path, std::string const& why) {
  throw error(exit_code::data, "text " + path.string() + " " + why);
}

inline std::string read_text(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) refuse_text(path, "cannot be read: check its permissions");
  return text;
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
    std::error_code unknown;  // a dangling link is no regular file
    if (entry->is_regular_file(unknown) && has_extension(entry->path(), extensions)) found.push_back(entry->path());
  }
  if (failure) refuse_text(folder, "cannot be listed: " + failure.message());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace detail

REDCO_INLINE std::vector<text_file> read_text_files(std::span<std::string const> paths,
                                                    std::span<std::string const> extensions) {
  namespace fs = std::filesystem;
  if (paths.empty()) throw error(exit_code::data, "no text was given: name at least one file or folder");
  std::vector<text_file> files;
  for (fs::path const path : paths) {
    std::error_code failure;
    auto const kind = fs::status(path, failure).type();
    std::size_t const before = files.size();
    if (kind == fs::file_type::not_found) detail::refuse_text(path, "does not exist: check the path");
    if (failure) detail::refuse_text(path, "cannot be read: " + failure.message());
    if (kind == fs::file_type::directory) {
      for (auto const& file : detail::files_below(path, extensions))
        if (auto text = detail::read_text(file); !text.empty()) files.push_back({file.string(), std::move(text)});
      if (files.size() == before)
        detail::refuse_text(path, "is a folder without text: check the path and the extensions");
    } else if (kind == fs::file_type::regular) {
      files.push_back({path.string(), detail::read_text(path)});
      if (files.back().text.empty()) detail::refuse_text(path, "is empty: a text needs at least one byte");
    } else {
      detail::refuse_text(path, "is neither a file nor a folder");
    }
  }
  return files;
}

}  // namespace redco
