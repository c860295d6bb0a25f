#pragma once

#include <redco/tokenizer/detail/decoded.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <span>
#include <string>

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

}  // namespace redco::tokenizer

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tokenizer/text_stream.inl.hpp>
#endif
