#pragma once

#include <redco/tokenizer/any_tokenizer.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <string>

namespace redco {

/// Text of ids that come one after another, such as generated ones, to be shown as they come. What `put` and `finish`
/// give together is what `decode` gives for all ids; each piece is UTF-8, because a code point that is not complete is
/// held back.
class text_stream {
 public:
  explicit text_stream(any_tokenizer tokenizer, decode_options options = {});

  /// The text that `id` completes; often empty.
  std::string put(std::int64_t id);
  /// What is still held back, as U+FFFD; the stream may then be used for another text.
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
