#pragma once

#include <redco/data/detail/input_blocks.hpp>

#include <redco/data/detail/json_lines.hpp>
#include <redco/data/detail/text_on_disk.hpp>
#include <redco/data/read_texts.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::data::detail {

inline constexpr std::int64_t block_bytes = 1 << 20;

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\v' || c == '\f'; }

inline input_format input_format_of(std::filesystem::path const& path) {
  if (lower_extension(path) == ".json") return input_format::json;
  return is_json_lines(path) ? input_format::lines : input_format::text;
}

/// Fills `bytes` with the `size` bytes of a file from byte `offset` on.
inline void read_bytes(diag::input_file const& file, std::int64_t offset, std::int64_t size, std::string& bytes) {
  bytes.resize(static_cast<std::size_t>(size));
  file.read(static_cast<std::uint64_t>(offset), std::as_writable_bytes(std::span(bytes)));
}

REDCO_INLINE std::vector<input_entry> inputs_of(std::span<std::string const> paths) {
  // read_text_files throws the error for an empty list of paths.
  if (paths.empty()) read_text_files(paths);
  std::vector<input_entry> files;
  for (std::string const& path : paths)
    each_text_file(path, {}, [&](std::filesystem::path const& file) {
      auto const bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
      if (bytes > 0) files.push_back({file, bytes, std::filesystem::last_write_time(file).time_since_epoch().count()});
      return bytes > 0;
    });
  return files;
}

REDCO_INLINE std::size_t text_cut(std::string_view text) {
  for (std::size_t at = text.size() - 1; at > 0; --at)
    if (text[at - 1] == '\n' && !is_space(text[at])) return at;
  for (std::size_t at = text.size() - 1; at > 1; --at)
    if (text[at - 1] == ' ' && !is_space(text[at - 2]) && !is_space(text[at])) return at - 1;
  std::size_t at = text.size() - 1;
  while (at > 1 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) --at;
  return at;
}

REDCO_INLINE std::optional<input_block> input_blocks::next() {
  if (file_ == files_.size()) return std::nullopt;
  input_entry const& from = files_[file_];
  if (open_ == nullptr) open_ = std::make_unique<diag::input_file>(from.path);
  std::int64_t const rest = from.bytes - offset_;
  input_block block{file_, offset_, line_, rest, 0, input_format_of(from.path), {}, true};
  if (block.format == input_format::lines) block.bytes = line_block(rest);
  if (block.format == input_format::text) {
    read_bytes(*open_, offset_, std::min(rest, block_bytes), block.bytes);
    if (rest > block_bytes) block.bytes.resize(text_cut(block.bytes));
  }
  if (block.format != input_format::json) {
    if (offset_ == 0) refuse_other_formats(from.path, block.bytes);
    block.size = static_cast<std::int64_t>(block.bytes.size());
  }
  block.last = block.size == rest;
  offset_ += block.size;
  block.lines = std::count(block.bytes.begin(), block.bytes.end(), '\n');
  line_ += block.lines;
  if (block.last) {
    ++file_;
    offset_ = 0;
    line_ = 1;
    open_.reset();
  }
  return block;
}

/// Returns whole lines from the offset on: about 1 MiB, or one longer line.
REDCO_INLINE std::string input_blocks::line_block(std::int64_t rest) {
  constexpr auto most = static_cast<std::int64_t>(longest_line) + 2;  // with the end of the line
  std::string lines;
  for (std::int64_t size = std::min(rest, block_bytes);; size = std::min({rest, 2 * size, most})) {
    read_bytes(*open_, offset_, size, lines);
    std::size_t const end = size == rest ? lines.size() : lines.rfind('\n') + 1;
    if (end == 0 && size < most) continue;
    if (end == 0) refuse_long_line(files_[file_].path.string() + ":" + std::to_string(line_));
    lines.resize(end);
    return lines;
  }
}

}  // namespace redco::data::detail
