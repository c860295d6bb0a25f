#include "catch.hpp"
#include "fixtures.hpp"

#include <redco/tokenizer/detail/decoded.hpp>
#include <redco/tokenizer/detail/normalizer.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/text_stream.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

static_assert(redco::tokenizer::tokenizer<redco::tokenizer::any_tokenizer>);

TEST_CASE("a code point is held back until it is complete") {
  redco::tokenizer::any_tokenizer const tokenizer = redco::tokenizer::json_tokenizer::parse(llama2_file(), "llama2");
  redco::tokenizer::text_stream stream(tokenizer);
  CHECK(stream.put(1).empty());  // <s>
  CHECK(stream.put(265) == "ab");
  CHECK(stream.put(235).empty());
  CHECK(stream.put(173).empty());
  CHECK(stream.put(161) == "語");
  CHECK(stream.put(265) == " ab");
  CHECK(stream.put(235).empty());
  CHECK(stream.put(260) == "\uFFFDa");  // the bytes were never a code point
  CHECK(stream.put(243).empty());
  CHECK(stream.put(162).empty());
  CHECK(stream.finish() == "\uFFFD");
  CHECK(stream.put(265) == "ab");  // a new text
}

TEST_CASE("a stream gives the text that decode gives") {
  for (std::string const& file : {llama2_file(), llama3_file, qwen2_file, bert_file}) {
    redco::tokenizer::any_tokenizer const tokenizer = redco::tokenizer::json_tokenizer::parse(file, "file");
    std::mt19937 random(7);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<std::int64_t> ids(random() % 12);
      for (auto& id : ids)
        id = static_cast<std::int64_t>(random() % static_cast<unsigned>(tokenizer.vocabulary_size() + 2));
      for (bool const keep : {false, true}) {
        redco::tokenizer::text_stream stream(tokenizer, {.keep_special = keep});
        std::string text;
        for (std::int64_t const id : ids) text += stream.put(id);
        text += stream.finish();
        CHECK(text == tokenizer.decode(ids, {.keep_special = keep}));
      }
    }
  }
}

TEST_CASE("spaces are removed as if patterns were replaced one after another, for any pieces of a text") {
  std::vector<std::string> const parts{" ",  "'",   " ' ", ".", " .", "n't", " n", "'t",
                                       "'s", "'ve", "'r",  "e", "?",  "a",   "!"};
  std::mt19937 random(5);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string whole, streamed;
    redco::tokenizer::detail::space_cleaner cleaner;
    for (unsigned left = random() % 12; left > 0; --left) {
      std::string const& part = parts[random() % parts.size()];
      whole += part;
      streamed += cleaner.put(part);
    }
    streamed += cleaner.finish();
    INFO('"' << whole << '"');
    for (std::string const from : {" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're"})
      whole = redco::tokenizer::detail::replaced(whole, from, from == " ' " ? "'" : from.substr(1));
    CHECK(streamed == whole);
  }
}

TEST_CASE("a stream that cleans spaces gives the text that decode gives, also after a prompt") {
  redco::json::json_value const file = redco::json::parse_json(
      R"({"decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, "model": {"type": "Unigram",
      "unk_id": 0, "vocab": [["a", 0], ["▁", 0], ["▁b", 0], ["'", 0], ["▁'", 0], ["s", 0], ["▁s", 0], [".", 0],
      ["▁.", 0], ["▁n", 0], ["'t", 0]]}})",
      "file");
  redco::tokenizer::any_tokenizer const tokenizer = redco::tokenizer::json_tokenizer(file, "file", {}, true);
  using row = std::vector<std::int64_t>;
  CHECK(tokenizer.decode(row{0, 4, 6, 8, 9, 10}) == "a's.n't");
  std::mt19937 random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    row all(1 + random() % 9);
    for (auto& id : all) id = random() % 11;
    auto const prompt = std::span(all).first(random() % all.size());
    std::string const before = tokenizer.decode(prompt), whole = tokenizer.decode(all);
    redco::tokenizer::text_stream stream(tokenizer);
    stream.skip(prompt);
    std::string text;
    for (std::int64_t const id : std::span(all).subspan(prompt.size())) text += stream.put(id);
    text += stream.finish();
    INFO('"' << before << "\" + \"" << text << "\" = \"" << whole << '"');
    if (whole.starts_with(before)) CHECK(before + text == whole);
  }
  redco::tokenizer::text_stream stream(tokenizer);
  stream.skip(row{0, 4});  // "a '": the next word removes a space that is already shown
  CHECK(stream.put(6) == "s");
  CHECK(stream.finish().empty());
  std::string shown = stream.put(0);
  shown += stream.put(8);
  CHECK(shown + stream.finish() == "a.");
}

TEST_CASE("a stream after a prompt gives the text of prompt and continuation without the text of the prompt") {
  for (std::string const& file : {llama2_file(), llama3_file, qwen2_file, bert_file}) {
    redco::tokenizer::any_tokenizer const tokenizer = redco::tokenizer::json_tokenizer::parse(file, "file");
    std::mt19937 random(11);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<std::int64_t> ids(1 + random() % 12);
      for (auto& id : ids)
        id = static_cast<std::int64_t>(random() % static_cast<unsigned>(tokenizer.vocabulary_size() + 2));
      auto const prompt = std::span(ids).first(random() % ids.size());
      std::string const before = tokenizer.decode(prompt), whole = tokenizer.decode(ids);
      if (!whole.starts_with(before)) continue;  // the prompt ended within a code point
      redco::tokenizer::text_stream stream(tokenizer);
      stream.skip(prompt);
      std::string text;
      for (std::int64_t const id : std::span(ids).subspan(prompt.size())) text += stream.put(id);
      text += stream.finish();
      // Held back until more bytes came
      if (text.starts_with("\uFFFD") && before.ends_with("\uFFFD")) continue;
      CHECK(before + text == whole);
    }
  }
}

TEST_CASE("the first word after a prompt keeps its space, and the first word of a text has none") {
  redco::tokenizer::any_tokenizer const llama = redco::tokenizer::json_tokenizer::parse(llama2_file(), "llama2");
  redco::tokenizer::text_stream stream(llama);
  stream.skip(std::vector<std::int64_t>{1, 265});  // <s>, "▁ab"
  CHECK(stream.put(265) == " ab");
  CHECK(stream.finish().empty());
  stream.skip(std::vector<std::int64_t>{1});  // nothing but <s>
  CHECK(stream.put(265) == "ab");
  stream.finish();
  stream.skip(std::vector<std::int64_t>{1, 235, 173});  // two bytes of three
  CHECK(stream.put(161) == "語");
}
