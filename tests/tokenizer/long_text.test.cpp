#include "catch.hpp"
#include "fixtures.hpp"
#include "processor_time.hpp"

#include <redco/tokenizer/json_tokenizer.hpp>

#include <cstdint>
#include <string>
#include <vector>

// A quadratic algorithm would need hours for these texts. The bounds are wide, for sanitizers.

TEST_CASE("a single word of two megabytes is encoded") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(llama3_file, "llama3");
  constexpr std::size_t count = 1'000'000;
  std::string word;
  // He ll ll he ll ll: "hell" and "ll"
  for (std::size_t i = 0; i < count; ++i) word += i % 3 == 0 ? "he" : "ll";
  double const start = processor_time();
  auto const ids = tokenizer.encode(word, {.add_special = false});
  CHECK(processor_time() - start < 120);
  REQUIRE(ids.size() == count - count / 3);
  CHECK(std::vector(ids.begin(), ids.begin() + 4) == std::vector<std::int64_t>{35, 34, 35, 34});
  CHECK(ids.back() == 33);
  CHECK(tokenizer.decode(ids) == word);
}

TEST_CASE("megabytes of text that makes patterns backtrack are encoded") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(llama3_file, "llama3");
  double const start = processor_time();
  for (char const* const piece : {" ", "\n", " \n", "'", "1", "a1", "\u00A0", "ä "}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    text += "a";
    auto const ids = tokenizer.encode(text, {.add_special = false});
    CHECK_FALSE(ids.empty());
  }
  CHECK(processor_time() - start < 300);
}

TEST_CASE("megabytes of combining marks are sorted and composed") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(qwen2_file, "qwen2");
  std::string text = "e";
  for (int i = 0; i < 200'000; ++i) text += "\u0323\u0301";
  double const start = processor_time();
  auto const ids = tokenizer.encode(text);
  CHECK(processor_time() - start < 60);
  CHECK_FALSE(ids.empty());
}
