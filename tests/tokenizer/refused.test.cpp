#include "catch.hpp"
#include "fixtures.hpp"
#include "refusal.hpp"

#include <redco/tokenizer/json_tokenizer.hpp>

#include <string>
#include <string_view>

namespace {

/// Returns the message with which a file is refused; empty if it is accepted.
std::string file_refusal(std::string const& file) {
  return refusal([&] { redco::tokenizer::json_tokenizer::parse(file, "t.json"); });
}

std::string changed(std::string file, std::string_view from, std::string_view to) {
  std::size_t const at = file.find(from);
  REQUIRE(at != std::string::npos);
  return file.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a broken tokenizer.json is refused in one sentence") {
  CHECK(says(file_refusal(""), "t.json:1:"));
  CHECK(says(file_refusal("{"), "t.json:1:"));
  CHECK(says(file_refusal("[]"), "t.json:"));
  CHECK(says(file_refusal("{}"), "model is missing"));
  CHECK(says(file_refusal(R"({"model": 3})"), "model should be a JSON object"));
  CHECK(says(file_refusal(R"({"model": {"type": "BPE"}})"), "model.vocab is missing"));
  CHECK(says(file_refusal(R"({"model": {"type": "BPE", "vocab": []}})"), "model.vocab should be a JSON object"));
  CHECK(says(file_refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}}})"), "model.merges is missing"));
  auto const model = [](std::string const& vocab, std::string const& merges) {
    return file_refusal(R"({"model": {"type": "BPE", "vocab": )" + vocab + R"(, "merges": )" + merges + "}}");
  };
  CHECK(model(R"({"a": 0, "b": 1, "ab": 2})", R"(["a b"])").empty());
  CHECK(says(model(R"({"a": -1})", "[]"), "model.vocab should hold whole numbers"));
  CHECK(says(model(R"({"a": 0.5})", "[]"), "model.vocab should hold whole numbers"));
  CHECK(says(model(R"({"a": 4294967296})", "[]"), "model.vocab should hold whole numbers"));
  CHECK(says(model(R"({"a": 2147483647})", "[]"), "has id 2147483647 for one of 1 tokens"));
  CHECK(says(model(R"({"a": 0, "b": 0})", "[]"), "gives id 0 to two tokens"));
  CHECK(says(model(R"({"a": 0, "a": 1})", "[]"), "appears twice"));
  CHECK(says(model(R"({"a": 0})", R"({"a": 1})"), "model.merges should be a JSON array"));
  CHECK(says(model(R"({"a": 0})", R"(["a b"])"), "model.merges[0] needs the token \"b\""));
  CHECK(says(model(R"({"a": 0, "b": 1})", R"(["a b"])"), "needs the token \"ab\""));
  CHECK(says(model(R"({"a": 0, "b": 1, "ab": 2})", R"(["a b", "ab"])"), "model.merges[1] should be two tokens"));
  CHECK(says(model(R"({"a": 0})", R"(["a a a"])"), "should be two tokens with a space"));
  CHECK(says(model(R"({"a": 0})", R"([["a"]])"), "should be two tokens"));
  CHECK(says(model(R"({"a": 0})", R"([[1, 2]])"), "should be two tokens"));
  CHECK(says(model(R"({"a": 0})", R"([3])"), "should be two tokens"));
  CHECK(says(file_refusal(std::string(3000, '[')), "nest deeper"));
}

TEST_CASE("a contradictory tokenizer.json is refused") {
  CHECK(says(file_refusal(changed(llama3_file, R"("id": 51, "content")", R"("id": 3, "content")")),
             "added_tokens[1] (\"<|end_of_text|>\") has id 3, which contradicts"));
  CHECK(says(file_refusal(changed(llama3_file, R"("content": "<|end_of_text|>")", R"("content": "hello")")),
             "(\"hello\") has id 51, which contradicts"));
  CHECK(says(file_refusal(changed(llama3_file, R"("id": 51, "content")", R"("id": 2000000000, "content")")),
             "has id 2000000000"));
  CHECK(says(file_refusal(changed(llama3_file, R"("content": "<|end_of_text|>", )", "")),
             "added_tokens[1].content is missing"));
  CHECK(says(file_refusal(changed(llama3_file, R"("ids": [50])", R"("ids": [77])")),
             "puts id 77 around a text, which no token has"));
  CHECK(says(file_refusal(changed(llama3_file, R"({"<|begin_of_text|>": {"id")", R"({"<|other|>": {"id")")),
             "special_tokens.<|begin_of_text|> is missing"));
  CHECK(says(file_refusal(changed(bert_file, R"("unk_token": "[UNK]")", R"("unk_token": "<unk>")")),
             "model.unk_token is \"<unk>\", which is not in model.vocab"));
  CHECK(says(file_refusal(changed(bert_file, R"("lowercase": true)", R"("lowercase": "yes")")),
             "normalizer.lowercase should be true or false"));
}

TEST_CASE("an unsupported part of a file is refused by name") {
  auto const without = [](std::string_view from, std::string_view to) {
    return file_refusal(changed(llama3_file, from, to));
  };
  CHECK(says(without(R"("normalizer": null)", R"("normalizer": {"type": "StripAccents"})"),
             "normalizer of type StripAccents is not computed"));
  CHECK(says(without(R"("normalizer": null)", R"("normalizer": {"type": "Precompiled"})"),
             "normalizer.precompiled_charsmap is missing"));
  CHECK(says(without(R"("type": "Split")", R"("type": "UnicodeScripts")"),
             "pre_tokenizer.pretokenizers[0] of type UnicodeScripts"));
  CHECK(says(without(R"("behavior": "Isolated")", R"("behavior": "MergedWithBoth")"), "the behavior MergedWithBoth"));
  CHECK(says(without(R"("dropout": null)", R"("dropout": 0.1)"), "model.dropout"));
  CHECK(says(without(R"("end_of_word_suffix": null)", R"("end_of_word_suffix": "</w>")"), "model.end_of_word_suffix"));
  CHECK(says(without(R"("fuse_unk": false)", R"("fuse_unk": false, "new_switch": 3)"), "model.new_switch"));
  CHECK(without(R"("fuse_unk": false)", R"("fuse_unk": false, "new_switch": false)").empty());
  CHECK(says(without(R"("type": "BPE")", R"("type": "WordLevel")"), "model of type WordLevel"));
  CHECK(says(without(R"("type": "BPE")", R"("type": "Unigram")"), "model.vocab should be a JSON array"));
  CHECK(says(without(R"("decoder": {"type": "ByteLevel")", R"("decoder": {"type": "CTC")"), "decoder of type CTC"));
  CHECK(says(without(R"("truncation": null)", R"("stride": 3)"), "stride"));
  // Truncation is ignored: the caller decides lengths.
  CHECK(without(R"("truncation": null)", R"("truncation": {"max_length": 3})").empty());
}

TEST_CASE("patterns that PCRE2 reads differently are translated or refused") {
  auto const with = [](std::string_view pattern) {
    return file_refusal(changed(llama3_file, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|)", std::string(pattern) + "|"));
  };
  CHECK(with(R"(\\s\\S[^\\s]\\p{Lu}\\x{1F600}\\r\\n(?:a|b)(?=c)(?!d)(?>e)\\d{2,3}x++)").empty());
  for (char const* const pattern :
       {R"(\\h)", R"(\\w)", R"(\\b)", R"(\\R)", R"(\\G)", R"(\\1)", R"(\\K)", R"(\\pL)", R"([a[b]])", R"([a&&b])",
        R"([]a])", R"((?x:a))", R"((?i)a)", R"((?<n>a))", R"((*UTF)a)", R"(a{2}+)"}) {
    CAPTURE(pattern);
    CHECK(says(with(pattern), "which is not computed"));
  }
  CHECK(says(with("(a"), "is no regular expression"));
  CHECK(says(with(R"(\\p{Nowhere})"), "is no regular expression"));
}

TEST_CASE("a pattern that takes exponential time causes an error") {
  auto const tokenizer = redco::tokenizer::json_tokenizer::parse(
      changed(llama3_file, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|)", R"((?:a+)+c|)"), "t.json");
  CHECK(tokenizer.encode("aac").size() == 4);
  std::string text(61, 'a');
  text.back() = 'd';
  CHECK(says(refusal([&] { tokenizer.encode(text); }), "pattern fails on a text of 61 bytes"));
}
