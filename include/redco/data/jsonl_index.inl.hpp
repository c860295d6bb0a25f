#pragma once

#include <redco/data/jsonl_index.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::data::detail {

/// Returns the line of `text` that begins at byte `begin`, without its end.
inline std::string_view line_from(std::string_view text, std::size_t begin) {
  std::string_view line = text.substr(begin, longest_line + 1);
  line = line.substr(0, line.find('\n'));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

inline std::string_view text_of(mapped_file const& file) {
  return {reinterpret_cast<char const*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE jsonl_index::jsonl_index(std::filesystem::path const& path, std::vector<std::string> keys)
    : file_(std::make_shared<detail::mapped_file>(path)), keys_(std::move(keys)) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  std::string_view const text = detail::text_of(*file_);
  detail::refuse_other_formats(path, text.substr(0, 16));
  std::vector<std::uint64_t> begins;
  std::size_t released = 0, number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    if (end - begin > detail::longest_line) detail::refuse_long_line(path.string() + ":" + std::to_string(number));
    std::size_t const first = text.find_first_not_of(" \t\r", begin);
    if (first < end) begins.push_back(begin);
    begin = end + 1;
    if (begin - released >= piece) file_->release(released, std::min(begin, text.size()) - released);
    if (begin - released >= piece) released = begin;
  }
  if (released < text.size()) file_->release(released, text.size() - released);
  if (begins.empty()) throw error(exit_code::data, path.string() + " has no line; give a file with examples");
  begins.shrink_to_fit();
  begins_ = std::make_shared<std::vector<std::uint64_t> const>(std::move(begins));
  file_->expect_random_access();
}

REDCO_INLINE jsonl_index::row jsonl_index::operator[](std::ptrdiff_t index) const {
  std::uint64_t const begin = (*begins_)[static_cast<std::size_t>(index)];
  std::string_view const line = detail::line_from(detail::text_of(*file_), begin);
  auto const read = [&](std::string const& source) {
    json::json_value const object = detail::json_object_of(line, source);
    row texts;
    for (std::string const& key : keys_) texts.push_back(detail::text_under(object, key, source));
    return texts;
  };
  row texts;
  try {
    texts = read(file_->path().string());
  } catch (error const&) {
    // The number of a line is counted only for its error.
    read(where(begin));
    throw;
  }
  file_->release(begin, line.size());
  return texts;
}

REDCO_INLINE void jsonl_index::check() const {
  for (std::size_t i = 0; i < size(); ++i) (*this)[static_cast<std::ptrdiff_t>(i)];
}

REDCO_INLINE std::string jsonl_index::where(std::uint64_t begin) const {
  std::string_view const before = detail::text_of(*file_).substr(0, begin);
  return file_->path().string() + ":" + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

}  // namespace redco::data
