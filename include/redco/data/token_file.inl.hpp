#pragma once

#include <redco/data/token_file.hpp>

#include <redco/safetensors/xxh64.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace redco::data::detail {

inline constexpr std::string_view token_magic = "redcoids";
inline constexpr std::uint64_t token_version = 1;

/// Returns the little-endian number in `size` bytes of a header from byte `begin` on.
inline std::uint64_t header_number(std::span<std::byte const> header, std::size_t begin, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(header[begin + i]);
  return value;
}

/// Writes a little-endian number into `size` bytes of a header from byte `begin` on.
inline void set_header_number(std::span<std::byte> header, std::size_t begin, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) header[begin + i] = static_cast<std::byte>(value >> 8 * i & 255);
}

inline std::uint64_t header_hash(std::span<std::byte const> header) {
  safetensors::xxh64 hash;
  hash.update(header.first(token_header::bytes - 8));
  return hash.digest();
}

[[noreturn]] inline void refuse_tokens(std::filesystem::path const& path, std::string const& why) {
  throw error(exit_code::data, path.string() + " " + why);
}

}  // namespace redco::data::detail

namespace redco::data {

REDCO_INLINE std::array<std::byte, token_header::bytes> token_header::encoded() const {
  std::array<std::byte, bytes> header{};
  for (std::size_t i = 0; i < 8; ++i) header[i] = static_cast<std::byte>(detail::token_magic[i]);
  detail::set_header_number(header, 8, 4, detail::token_version);
  detail::set_header_number(header, 12, 4, static_cast<std::uint64_t>(width()));
  detail::set_header_number(header, 16, 8, static_cast<std::uint64_t>(count));
  detail::set_header_number(header, 24, 8, static_cast<std::uint64_t>(vocabulary));
  detail::set_header_number(header, 32, 8, static_cast<std::uint64_t>(end.value_or(-1)));
  detail::set_header_number(header, 40, 8, tokenizer);
  detail::set_header_number(header, 56, 8, detail::header_hash(header));
  return header;
}

REDCO_INLINE token_header token_header::decoded(std::span<std::byte const> front, std::filesystem::path const& path,
                                                std::uint64_t file_size) {
  std::string const cure = "; make it with redco-tokenize";
  if (front.size() < bytes)
    detail::refuse_tokens(path, "is no token file: it has " + std::to_string(front.size()) +
                                    " bytes, fewer than the 64 of a header" + cure);
  for (std::size_t i = 0; i < 8; ++i)
    if (front[i] != static_cast<std::byte>(detail::token_magic[i]))
      detail::refuse_tokens(
          path, "is no token file: it does not begin with \"" + std::string(detail::token_magic) + "\"" + cure);
  if (auto const version = detail::header_number(front, 8, 4); version != detail::token_version)
    detail::refuse_tokens(path, "is a token file of version " + std::to_string(version) +
                                    ", and this program reads version 1" + cure + " of this version");
  if (detail::header_number(front, 56, 8) != detail::header_hash(front))
    detail::refuse_tokens(path, "has a damaged header: its hash does not fit; copy the file again");
  token_header header;
  header.count = static_cast<std::int64_t>(detail::header_number(front, 16, 8));
  header.vocabulary = static_cast<std::int64_t>(detail::header_number(front, 24, 8));
  header.tokenizer = detail::header_number(front, 40, 8);
  auto const end = static_cast<std::int64_t>(detail::header_number(front, 32, 8));
  if (end >= 0) header.end = end;
  auto const width = detail::header_number(front, 12, 4);
  constexpr std::int64_t most_ids = std::numeric_limits<std::int64_t>::max() / 8;
  constexpr std::int64_t most_words = std::int64_t{1} << 32;
  if (header.count < 0 || header.count > most_ids || header.vocabulary < 1 || header.vocabulary > most_words ||
      width != static_cast<std::uint64_t>(header.width()) || end < -1 || end >= header.vocabulary)
    detail::refuse_tokens(path, "has a header that no program of redco writes: " + std::to_string(header.count) +
                                    " ids of " + std::to_string(width) + " bytes from a vocabulary of " +
                                    std::to_string(header.vocabulary) + cure);
  if (file_size != header.file_bytes())
    detail::refuse_tokens(path, "has " + std::to_string(file_size) + " bytes, but its header states " +
                                    std::to_string(header.count) + " ids of " + std::to_string(width) +
                                    " bytes, which need " + std::to_string(header.file_bytes()) +
                                    "; copy the file again");
  return header;
}

REDCO_INLINE std::uint64_t tokenizer_hash(std::filesystem::path const& folder) {
  safetensors::xxh64 hash;
  bool found = false;
  for (std::string_view const name :
       {"tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "merges.txt", "vocab.txt",
        "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}) {
    std::filesystem::path const path = folder / name;
    if (!std::filesystem::exists(path)) continue;
    found = true;
    std::string const line =
        std::string(name) + " " + safetensors::xxh64::text_of(safetensors::xxh64::of(diag::input_file(path))) + "\n";
    hash.update(std::as_bytes(std::span(line)));
  }
  if (!found)
    detail::refuse_tokens(folder, "has no file of a tokenizer, such as tokenizer.json; name the folder of a model");
  return hash.digest();
}

}  // namespace redco::data

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
