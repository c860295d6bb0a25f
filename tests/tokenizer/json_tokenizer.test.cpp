#include "catch.hpp"
#include "fixtures.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"

#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/tokenizer.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

static_assert(redco::tokenizer::tokenizer<redco::tokenizer::json_tokenizer>);
static_assert(!redco::tokenizer::tokenizer<std::string>);

namespace {

using ids = std::vector<std::int64_t>;

struct expected {
  char const* text;
  ids encoded;
  std::string decoded;
};

void check(redco::tokenizer::json_tokenizer const& tokenizer, std::vector<expected> const& cases) {
  for (int pass = 0; pass < 2; ++pass) {  // the second pass finds words in the cache
    for (auto const& [text, encoded, decoded] : cases) {
      CAPTURE(text);
      CHECK(tokenizer.encode(text) == encoded);
      CHECK(tokenizer.decode(encoded) == decoded);
    }
  }
}

}  // namespace

TEST_CASE("1,000 strings have the reference's ids and decode to the reference's text", "[parity]") {
  auto const folder = shared_folder() / "parity" / "tokenizer";
  if (!std::filesystem::exists(folder)) return skip("no " + folder.string());
  redco::tokenizer::json_tokenizer const tokenizer(folder / "tokenizer.json");
  CHECK(tokenizer.vocabulary_size() == 512);
  CHECK(tokenizer.specials().all == ids{0});
  std::ifstream lines(folder / "golden.jsonl");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    // parse_json would refuse the NUL in some strings
    auto const row = nlohmann::json::parse(line);
    auto const text = row.at("text").get<std::string>();
    CAPTURE(line);
    REQUIRE(tokenizer.encode(text) == row.at("ids").get<ids>());
    REQUIRE(tokenizer.decode(row.at("ids").get<ids>(), {.keep_special = true}) == text);
  }
  CHECK(count == 1000);
}

TEST_CASE("a tokenizer like LLaMA-3's encodes and decodes as the reference does") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(llama3_file, "llama3");
  check(tokenizer, {
                       {"", {50}, ""},
                       {"hello world", {50, 36, 47}, "hello world"},  // no merge gives " world"
                       // No token covers "H"
                       {"Hello  world's", {50, 4, 34, 7, 23, 47, 44}, "ello  world's"},
                       {"1234567", {50, 42, 16, 17, 18, 19}, "1234567"},  // digits by threes
                       {"ab's'S\n\n ab", {50, 49, 44, 20, 46, 23, 0, 1}, "ab's'\n\n ab"},
                       {"hello<|end_of_text|> world", {50, 36, 51, 47}, "hello world"},
                       {"ää ä", {50, 45, 45, 23, 45}, "ää ä"},
                       {" \r\n  hello", {50, 23, 25, 24, 23, 23, 36}, " \r\n  hello"},
                       {"abba", {50, 0, 1, 1, 0}, "abba"},
                       {"   ", {50, 43, 23}, "   "},
                       {"š", {50, 32}, "\uFFFD"},  // the second of its two bytes is no token
                   });
  CHECK(tokenizer.vocabulary_size() == 52);
  CHECK(tokenizer.specials().all == ids{50, 51});
  CHECK(tokenizer.id_of("<|end_of_text|>") == 51);
  CHECK(tokenizer.id_of("Ġworld") == 47);
  CHECK_FALSE(tokenizer.id_of("nowhere"));

  CHECK(tokenizer.encode("hello<|end_of_text|>", {.add_special = false}) == ids{36, 51});
  CHECK(tokenizer.encode("e<|end_of_text|>", {.add_special = false, .find_special = false}) ==
        // "e", then "end", "of", "text"; characters without a token are left out
        ids{4, 4, 3, 7, 10, 4, 10});
  CHECK(tokenizer.decode(ids{50, 36, 51}, {.keep_special = true}) == "<|begin_of_text|>hello<|end_of_text|>");
  CHECK(tokenizer.decode(ids{36, -100, 52, 99999999, 47}) == "hello world");  // ids without a token
}

TEST_CASE("a tokenizer like Qwen2's encodes and decodes as the reference does") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(qwen2_file, "qwen2");
  check(tokenizer, {
                       {"", {}, ""},
                       {"1234", {13, 14, 15, 16}, "1234"},             // digits stay single
                       {"cafe\u0301 é", {2, 0, 34, 23, 34}, "caé é"},  // NFC
                       {"e\u0301! abc", {41, 23, 36}, "\uFFFD! abc"},  // a token in normalized text
                       {"b <mask> c", {1, 39, 2}, "b<mask>c"},         // <mask> removes spaces
                       // Matches whole words only
                       {"cab cabs a cab", {40, 23, 2, 35, 9, 23, 0, 23, 40}, "cab cabs a cab"},
                       {"<|im_start|>abc<|endoftext|>", {38, 36, 37}, "abc"},
                       {"abcd 'S", {36, 3, 23, 20}, "abcd '"},
                   });
  CHECK(tokenizer.specials().all == ids{37, 38});
  CHECK(tokenizer.decode(ids{38, 36, 37}, {.keep_special = true}) == "<|im_start|>abc<|endoftext|>");
  // Tokens that are not special are found even if find_special is false.
  CHECK(tokenizer.encode("cab", {.find_special = false}) == ids{40});
}

TEST_CASE("a tokenizer like BERT's encodes and decodes as the reference does") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(bert_file, "bert");
  check(tokenizer,
        {
            {"", {2, 3}, ""},
            {"Unaffable CAFÉS, running!", {2, 5, 6, 7, 11, 14, 12, 8, 9, 13, 3}, "unaffable cafes, running!"},
            {"the 中文\tcafe\u0301", {2, 10, 15, 16, 11, 3}, "the 中 文 cafe"},
            {"unx the", {2, 1, 10, 3}, "the"},
            {"don't.", {2, 17, 18, 19, 23, 3}, "don ' t."},
            {"the [MASK] the", {2, 10, 4, 10, 3}, "the the"},
            {"offeaaaaaaaa", {2, 20, 22, 22, 21, 24, 24, 24, 24, 24, 24, 24, 24, 3}, "offeaaaaaaaa"},
            {"offeaaaaaaaaa", {2, 1, 3}, ""},  // 13 code points, 12 are allowed
            {"\uFFFDthe\u00A0un\u00AD", {2, 10, 5, 3}, "the un"},
        });
  CHECK(tokenizer.specials().unknown == 1);
  CHECK(tokenizer.decode(ids{2, 10, 13, 1}, {.keep_special = true}) == "[CLS] the! [UNK]");
}

TEST_CASE("a tokenizer like LLaMA-2's encodes and decodes as the reference does") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(llama2_file(), "llama2");
  check(tokenizer, {
                       {"", {1}, ""},
                       {"ab cab", {1, 265, 259, 262, 264}, "ab cab"},
                       {" ab", {1, 259, 265}, " ab"},
                       {"  ab", {1, 266, 265}, "  ab"},
                       {"a\n語</s>c", {1, 263, 13, 235, 173, 161, 2, 259, 262}, "a\n語 c"},
                   });
}

TEST_CASE("invalid UTF-8 is read as U+FFFD") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(llama2_file(), "llama2");
  ids const replacement{242, 194, 192};  // <0xEF><0xBF><0xBD>
  auto const with = [&](int count) {
    ids all{260};
    for (int i = 0; i < count; ++i) all.insert(all.end(), replacement.begin(), replacement.end());
    all.push_back(261);
    return all;
  };
  auto const encoded = [&](std::string const& middle) {
    auto all = tokenizer.encode("c a" + middle + "b", {.add_special = false});
    all.erase(all.begin(), all.begin() + 2);  // "▁", "c"
    if (all.front() == 263) all.front() = 260;
    return all;
  };
  CHECK(encoded("\x80") == with(1));
  CHECK(encoded("\xFF\xFE") == with(2));
  CHECK(encoded("\xC0\xAF") == with(2));          // longer than needed
  CHECK(encoded("\xED\xA0\x80") == with(3));      // a surrogate
  CHECK(encoded("\xF4\x90\x80\x80") == with(4));  // beyond U+10FFFF
  CHECK(encoded("\xE8\xAA") == with(1));          // cut: one for all of it
  CHECK(encoded("\xF0\x9F\x98") == with(1));
  CHECK(encoded("\xE8\xAA\xE8") == with(2));
  CHECK(tokenizer.encode("\xE8\xAA\x9E", {.add_special = false}) == ids{259, 235, 173, 161});
  // Decoding gives UTF-8 whatever the ids are.
  CHECK(tokenizer.decode(ids{235, 173}) == "\uFFFD");
  CHECK(tokenizer.decode(ids{260, 131, 261, 235, 173, 262}) == "a\uFFFDb\uFFFDc");
}

TEST_CASE("threads share a tokenizer") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(llama3_file, "llama3");
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back("hello world " + std::to_string(111 + i % 7) + std::string(static_cast<std::size_t>(i % 40), 'l') +
                    " ab\n");
  std::vector<ids> alone;
  for (auto const& text : texts) alone.push_back(tokenizer.encode(text));
  auto const fresh = redco::tokenizer::json_tokenizer::parse(llama3_file, "llama3");
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        std::size_t const at = (i + 71 * t) % texts.size();
        if (fresh.encode(texts[at]) != alone[at]) ++wrong[t];
        if (fresh.decode(alone[at]) != texts[at]) ++wrong[t];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}
