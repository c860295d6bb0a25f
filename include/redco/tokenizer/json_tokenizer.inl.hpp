#pragma once

#include <redco/tokenizer/json_tokenizer.hpp>

#include <redco/tokenizer/detail/decoded.hpp>
#include <redco/tokenizer/detail/tokenizer_file.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

namespace redco::tokenizer {

REDCO_INLINE json_tokenizer::json_tokenizer(std::filesystem::path const& file, special_names const& names)
    : json_tokenizer(json::read_json(file), file.string(), names) {}

REDCO_INLINE json_tokenizer::json_tokenizer(json::json_value const& root, std::string const& source,
                                            special_names const& names, bool cleans_spaces)
    : file_(std::make_shared<detail::tokenizer_file>(detail::json_node(root, source + ": "), names)),
      cleans_spaces_(cleans_spaces) {}

REDCO_INLINE json_tokenizer json_tokenizer::parse(std::string_view text, std::string const& source,
                                                  special_names const& names) {
  return json_tokenizer(json::parse_json(text, source), source, names);
}

REDCO_INLINE std::vector<std::int64_t> json_tokenizer::encode(std::string_view text, encode_options options) const {
  return file_->encode(text, options);
}

REDCO_INLINE pair_encoding json_tokenizer::encode_pair(std::string_view first, std::string_view second,
                                                       std::int64_t most) const {
  return file_->encode_pair(first, second, most);
}

REDCO_INLINE std::string json_tokenizer::decode(std::span<std::int64_t const> ids, decode_options options) const {
  return detail::decoded(*this, ids, options);
}

REDCO_INLINE bool json_tokenizer::append(std::string& bytes, std::int64_t id, bool first) const {
  return file_->append(bytes, id, first);
}

REDCO_INLINE std::optional<std::int64_t> json_tokenizer::id_of(std::string_view token) const {
  return file_->find(token);
}

REDCO_INLINE std::int64_t json_tokenizer::vocabulary_size() const { return static_cast<std::int64_t>(file_->rows()); }

REDCO_INLINE special_ids const& json_tokenizer::specials() const { return file_->specials(); }

}  // namespace redco::tokenizer
