#pragma once

#include <redco/tokenizer/detail/decoded.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/meta/utf8.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace redco::tokenizer {

/// A decoder for ids that arrive one at a time, such as generated ids. The texts returned by `put`
/// and `finish`, joined, equal `decode` of all ids. Each text is valid UTF-8: the stream buffers
/// incomplete code points, and spaces that the next id may remove.
///
///   redco::tokenizer::text_stream shown(tokenizer);
///   shown.skip(tokenizer.encode("the models of"));
///   std::cout << "the models of" << shown.put(id);  // " them": keeps the space between two words
class text_stream {
 public:
  explicit text_stream(any_tokenizer tokenizer, decode_options options = {});

  /// Consumes the ids of a prompt whose text the user already sees. Must be called before `put`.
  void skip(std::span<std::int64_t const> prompt);
  /// Adds the token `id` to the text and returns the text that later ids cannot change; often an
  /// empty string.
  std::string put(std::int64_t id);
  /// Ends the text and returns its buffered rest, with U+FFFD for an incomplete code point. The
  /// next call of `put` begins another text.
  std::string finish();

 private:
  std::string cleaned(std::string text, bool last);

  any_tokenizer tokenizer_;
  decode_options options_;
  std::string held_back_;          // bytes of an incomplete code point
  detail::space_cleaner cleaner_;  // used if the tokenizer cleans spaces
  std::string shown_;              // end of the prompt's text that the cleaner still buffers
  bool first_ = true;
};

inline text_stream::text_stream(any_tokenizer tokenizer, decode_options options)
    : tokenizer_(std::move(tokenizer)), options_(options) {}

inline void text_stream::skip(std::span<std::int64_t const> prompt) {
  for (std::int64_t const id : prompt) put(id);
  shown_ = detail::space_cleaner(cleaner_).finish();
}

inline std::string text_stream::put(std::int64_t id) {
  if (!options_.keep_special && detail::is_special(tokenizer_.specials(), id)) return {};
  if (tokenizer_.append(held_back_, id, first_)) first_ = false;
  std::string text;
  std::size_t const complete = held_back_.size() - meta::incomplete_tail(held_back_);
  meta::append_well_formed(text, std::string_view(held_back_).substr(0, complete));
  held_back_.erase(0, complete);
  return cleaned(std::move(text), false);
}

inline std::string text_stream::finish() {
  std::string text;
  meta::append_well_formed(text, held_back_);
  held_back_.clear();
  first_ = true;
  text = cleaned(std::move(text), true);
  shown_.clear();
  return text;
}

inline std::string text_stream::cleaned(std::string text, bool last) {
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
