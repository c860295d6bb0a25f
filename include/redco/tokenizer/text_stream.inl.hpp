#pragma once

#include <redco/tokenizer/text_stream.hpp>

#include <redco/tokenizer/detail/decoded.hpp>
#include <redco/meta/utf8.hpp>

#include <redco/config.hpp>

#include <string_view>
#include <utility>

namespace redco::tokenizer {

REDCO_INLINE text_stream::text_stream(any_tokenizer tokenizer, decode_options options)
    : tokenizer_(std::move(tokenizer)), options_(options) {}

REDCO_INLINE void text_stream::skip(std::span<std::int64_t const> prompt) {
  for (std::int64_t const id : prompt) put(id);
  shown_ = detail::space_cleaner(cleaner_).finish();
}

REDCO_INLINE std::string text_stream::put(std::int64_t id) {
  if (!options_.keep_special && detail::is_special(tokenizer_.specials(), id)) return {};
  if (tokenizer_.append(held_back_, id, first_)) first_ = false;
  std::string text;
  std::size_t const complete = held_back_.size() - meta::incomplete_tail(held_back_);
  meta::append_well_formed(text, std::string_view(held_back_).substr(0, complete));
  held_back_.erase(0, complete);
  return cleaned(std::move(text), false);
}

REDCO_INLINE std::string text_stream::finish() {
  std::string text;
  meta::append_well_formed(text, held_back_);
  held_back_.clear();
  first_ = true;
  text = cleaned(std::move(text), true);
  shown_.clear();
  return text;
}

REDCO_INLINE std::string text_stream::cleaned(std::string text, bool last) {
  if (!tokenizer_.cleans_spaces()) return text;
  text = cleaner_.put(std::move(text));
  if (last) text += cleaner_.finish();
  std::string fresh;
  // A space of the prompt that the cleaner removes later is already shown
  for (char const c : text) {
    while (c != ' ' && shown_.starts_with(' ')) shown_.erase(0, 1);
    if (shown_.starts_with(c)) {
      shown_.erase(0, 1);
    } else {
      fresh += c;
    }
  }
  return fresh;
}

}  // namespace redco::tokenizer
