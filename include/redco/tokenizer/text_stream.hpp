#pragma once

#include <redco/tokenizer/any_tokenizer.hpp>
#include <redco/tokenizer/detail/space_cleaner.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace redco {

/// A decoder of ids that come one after another, such as generated ones. The pieces of `put` and
/// `finish` together are what `decode` gives for all ids. Each piece is UTF-8: a code point that is
/// not complete is held back, and so is a space that the next id may remove.
///
///   redco::text_stream shown(tokenizer);
///   shown.skip(tokenizer.encode("the models of"));
///   std::cout << "the models of" << shown.put(id);  // " them": a word after others keeps its space
class text_stream {
 public:
  explicit text_stream(any_tokenizer tokenizer, decode_options options = {});

  /// Takes the ids of a prompt whose text is shown already. Call before `put`.
  void skip(std::span<std::int64_t const> prompt);
  /// Returns the text that `id` completes; often empty.
  std::string put(std::int64_t id);
  /// Returns what is still held back, U+FFFD for a part of a code point; the stream may then be
  /// used for another text.
  std::string finish();

 private:
  std::string cleaned(std::string text, bool last);

  any_tokenizer tokenizer_;
  decode_options options_;
  std::string held_back_;          // the bytes of a code point that is not complete
  detail::space_cleaner cleaner_;  // used if the tokenizer cleans spaces
  std::string shown_;              // the end of the prompt's text that the cleaner holds back
  bool first_ = true;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/text_stream.inl.hpp>
#endif
