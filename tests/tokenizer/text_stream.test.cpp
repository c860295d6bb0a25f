#include "catch.hpp"
#include "fixtures.hpp"

#include <redco/tokenizer/any_tokenizer.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/text_stream.hpp>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

static_assert(redco::tokenizer<redco::any_tokenizer>);

TEST_CASE("a code point is held back until it is complete") {
  redco::any_tokenizer const tokenizer = redco::json_tokenizer::parse(llama2_file(), "llama2");
  redco::text_stream stream(tokenizer);
  CHECK(stream.put(1).empty());  // <s>
  CHECK(stream.put(265) == "ab");
  CHECK(stream.put(235).empty());
  CHECK(stream.put(173).empty());
  CHECK(stream.put(161) == "語");
  CHECK(stream.put(265) == " ab");
  CHECK(stream.put(235).empty());
  CHECK(stream.put(260) == "\uFFFDa");  // it never was one
  CHECK(stream.put(243).empty());
  CHECK(stream.put(162).empty());
  CHECK(stream.finish() == "\uFFFD");
  CHECK(stream.put(265) == "ab");  // a new text
}

TEST_CASE("a stream gives what decode gives") {
  for (std::string const& file : {llama2_file(), llama3_file, qwen2_file, bert_file}) {
    redco::any_tokenizer const tokenizer = redco::json_tokenizer::parse(file, "file");
    std::mt19937 random(7);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<std::int64_t> ids(random() % 12);
      for (auto& id : ids)
        id = static_cast<std::int64_t>(random() % static_cast<unsigned>(tokenizer.vocabulary_size() + 2));
      for (bool const keep : {false, true}) {
        redco::text_stream stream(tokenizer, {.keep_special = keep});
        std::string text;
        for (std::int64_t const id : ids) text += stream.put(id);
        text += stream.finish();
        CHECK(text == tokenizer.decode(ids, {.keep_special = keep}));
      }
    }
  }
}

TEST_CASE("a stream behind a prompt gives the text of both without the text of the prompt") {
  for (std::string const& file : {llama2_file(), llama3_file, qwen2_file, bert_file}) {
    redco::any_tokenizer const tokenizer = redco::json_tokenizer::parse(file, "file");
    std::mt19937 random(11);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<std::int64_t> ids(1 + random() % 12);
      for (auto& id : ids)
        id = static_cast<std::int64_t>(random() % static_cast<unsigned>(tokenizer.vocabulary_size() + 2));
      auto const prompt = std::span(ids).first(random() % ids.size());
      std::string const before = tokenizer.decode(prompt), whole = tokenizer.decode(ids);
      if (!whole.starts_with(before)) continue;  // the prompt ended within a code point
      redco::text_stream stream(tokenizer);
      stream.skip(prompt);
      std::string text;
      for (std::int64_t const id : std::span(ids).subspan(prompt.size())) text += stream.put(id);
      text += stream.finish();
      if (text.starts_with("\uFFFD") && before.ends_with("\uFFFD")) continue;  // held back until more came
      CHECK(before + text == whole);
    }
  }
}

TEST_CASE("the first word behind a prompt keeps its space, and the first word of a text has none") {
  redco::any_tokenizer const llama = redco::json_tokenizer::parse(llama2_file(), "llama2");
  redco::text_stream stream(llama);
  stream.skip(std::vector<std::int64_t>{1, 265});  // <s>, "▁ab"
  CHECK(stream.put(265) == " ab");
  CHECK(stream.finish().empty());
  stream.skip(std::vector<std::int64_t>{1});  // nothing but <s>
  CHECK(stream.put(265) == "ab");
  stream.finish();
  stream.skip(std::vector<std::int64_t>{1, 235, 173});  // two bytes of three
  CHECK(stream.put(161) == "語");
}
