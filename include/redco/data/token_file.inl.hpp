#pragma once

#include <redco/data/token_file.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <span>
#include <string>

namespace redco::data::detail {

/// Appends the little-endian ids of `Width` bytes to `ids`.
template <std::size_t Width>
void append_ids(std::span<std::byte const> bytes, std::vector<std::int64_t>& ids) {
  for (std::size_t at = 0; at < bytes.size(); at += Width) {
    std::uint32_t id = 0;
    for (std::size_t i = Width; i-- > 0;) id = id << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
    ids.push_back(id);
  }
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE token_file::token_file(std::filesystem::path const& path, std::int64_t context)
    : file_(std::make_shared<detail::mapped_file>(path)),
      header_(token_header::decoded(file_->bytes().first(std::min(token_header::bytes, file_->bytes().size())), path,
                                    file_->bytes().size())),
      context_(context),
      size_(0) {
  if (context < 1)
    throw error(exit_code::usage, "a window of " + std::to_string(context) +
                                      " ids has no id to predict; give a context of at least 1 to read " +
                                      path.string());
  if (header_.count < 2)
    throw error(exit_code::data, path.string() + " has " + std::to_string(header_.count) +
                                     " ids, too few to predict one from another; tokenize more text");
  size_ = static_cast<std::size_t>((header_.count - 2) / context + 1);
  file_->expect_random_access();
}

REDCO_INLINE token_file::window token_file::operator[](std::ptrdiff_t index) const {
  std::int64_t const first = index * context_;
  auto const count = static_cast<std::size_t>(std::min(context_, header_.count - first - 1) + 1);
  auto const width = static_cast<std::size_t>(header_.width());
  std::size_t const begin = token_header::bytes + static_cast<std::size_t>(first) * width;
  std::span<std::byte const> const bytes = file_->bytes().subspan(begin, count * width);
  window ids;
  ids.reserve(count);
  width == 2 ? detail::append_ids<2>(bytes, ids) : detail::append_ids<4>(bytes, ids);
  file_->release(begin, bytes.size());
  return ids;
}

REDCO_INLINE void token_file::check_tokenizer(std::filesystem::path const& folder) const {
  if (header_.tokenizer == 0)
    throw error(exit_code::data, file_->path().string() + " does not state its tokenizer; make it with redco-tokenize");
  if (header_.tokenizer != tokenizer_hash(folder))
    throw error(exit_code::data, file_->path().string() + " has ids of another tokenizer than " + folder.string() +
                                     "; tokenize the text again, or name the tokenizer that was used");
}

}  // namespace redco::data
