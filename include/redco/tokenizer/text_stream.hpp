#pragma once

#include <redco/tokenizer/any_tokenizer.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace redco {

/// A decoder of ids that come one after another, such as generated ones. The pieces of `put` and
/// `finish` together are what `decode` gives for all ids. Each piece is UTF-8: a code point that is
/// not complete is held back.
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
  /// Returns what is still held back, as U+FFFD; the stream may then be used for another text.
  std::string finish();

 private:
  any_tokenizer tokenizer_;
  decode_options options_;
  std::string held_back_;
  bool first_ = true;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/text_stream.inl.hpp>
#endif
