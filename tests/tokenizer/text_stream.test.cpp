#include "catch.hpp"
#include "fixtures.hpp"

#include <redco/tokenizer/any_tokenizer.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/text_stream.hpp>

#include <cstdint>
#include <random>
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
