#include "catch.hpp"
#include "refusal.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/tokenizer/text_stream.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

// Compares folders of tokenizers with the results of transformers 5.24 (make_folders.py). Version
// 4.57 gives equal ids.

namespace {

namespace fs = std::filesystem;

using numbers = std::vector<std::int64_t>;

/// A copy of one of those folders, which a test changes.
struct copied_folder : temporary_folder {
  explicit copied_folder(std::string const& name) {
    fs::copy(test_files() / "tokenizers" / name, path, fs::copy_options::recursive);
  }
  void change(std::string const& file, std::string const& from, std::string const& to) const {
    std::ifstream in(path / file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::size_t const at = text.find(from);
    REQUIRE(at != std::string::npos);
    std::ofstream(path / file) << text.replace(at, from.size(), to);
  }
  void write(std::string const& file, std::string const& text) const { std::ofstream(path / file) << text; }
  std::string refused() const {
    return refusal([&] { redco::read_tokenizer(path); });
  }
};

}  // namespace

TEST_CASE("folders of every kind give the ids and texts that transformers gives") {
  if (!redco::tokenizer::detail::regex::available) return;
  int folders = 0;
  for (auto const& folder : fs::directory_iterator(test_files() / "tokenizers")) {
    INFO(folder.path().filename().string());
    REQUIRE_NOTHROW(redco::read_tokenizer(folder.path()));
    redco::tokenizer::any_tokenizer const tokenizer = redco::read_tokenizer(folder.path());
    redco::tokenizer::text_stream stream(tokenizer);
    redco::json::json_value const rows = redco::json::read_json(folder.path() / "golden.json");
    CHECK(rows.size() > 20);
    for (redco::json::json_value const& row : rows) {
      std::string const text = row["text"];
      INFO(row.dump());
      numbers const ids = tokenizer.encode(text);
      CHECK(ids == row["ids"].get<numbers>());
      CHECK(tokenizer.decode(ids) == row["decoded"].get<std::string>());
      std::string streamed;
      for (std::int64_t const id : ids) streamed += stream.put(id);
      CHECK(streamed + stream.finish() == row["decoded"].get<std::string>());
    }
    ++folders;
  }
  CHECK(folders == 30);
}

TEST_CASE("pairs of texts have the ids and types that transformers gives, at any length") {
  if (!redco::tokenizer::detail::regex::available) return;
  for (std::string const name : {"files_bert", "files_roberta", "files_bart", "roberta_prefix"}) {
    redco::tokenizer::any_tokenizer const tokenizer = redco::read_tokenizer(test_files() / "tokenizers" / name);
    redco::json::json_value const rows = redco::json::read_json(test_files() / "tokenizers" / name / "pairs.json");
    CHECK(rows.size() == 35);
    for (redco::json::json_value const& row : rows) {
      INFO(name << row.dump());
      auto const pair = tokenizer.encode_pair(row["first"].get<std::string>(), row["second"].get<std::string>(),
                                              row["most"].get<std::int64_t>());
      CHECK(pair.ids == row["ids"].get<numbers>());
      CHECK(pair.types == row["types"].get<numbers>());
    }
  }
}

TEST_CASE("a pair template of tokenizer.json is read, and a tokenizer without one refuses pairs") {
  auto const file = [](std::string const& processor) {
    return redco::tokenizer::json_tokenizer::parse(
        R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": )" + processor +
            R"(, "model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "C": 1, "S": 2, "a": 3, "b": 4}}})",
        "words");
  };
  std::string const tokens = R"("special_tokens": {"C": {"ids": [1]}, "S": {"ids": [2]}}})";
  std::string const single = R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}], "pair": )";
  std::string const a = R"({"Sequence": {"id": "A", "type_id": 0}})", b = R"({"Sequence": {"id": "B", "type_id": 1}})";
  std::string const s = R"({"SpecialToken": {"id": "S", "type_id": 5}})";
  auto const templated = file(single + "[" + s + "," + a + "," + s + "," + b + "], " + tokens);
  CHECK(templated.encode_pair("a b", "b").ids == numbers{2, 3, 4, 2, 4});
  CHECK(templated.encode_pair("a b", "b").types == numbers{5, 0, 0, 5, 1});
  CHECK(templated.encode_pair("a b", "b", 4).ids == numbers{2, 3, 2, 4});
  CHECK(says(refusal([&] { templated.encode_pair("a", "b", 1); }, redco::exit_code::usage),
             "a pair of texts has 2 special tokens, and 1 tokens in all are allowed"));
  CHECK(file(R"({"type": "BertProcessing", "cls": ["C", 1], "sep": ["S", 2]})").encode_pair("a", "b").types ==
        numbers{0, 0, 0, 1, 1});
  for (std::string const& pair : {std::string("[]"), "[" + a + "," + b + "]", "[" + s + "," + b + "," + a + "]"})
    CHECK(says(refusal([&] { file(single + pair + ", " + tokens).encode_pair("a", "b"); }),
               "puts no special token between two texts"));
  CHECK(says(refusal([&] { file(single + "[{\"SpecialToken\": {\"id\": \"X\"}}], " + tokens); }),
             "special_tokens.X is missing"));
}

TEST_CASE("a token in tokenizer.json and another file has one id, or the folder is refused") {
  if (!redco::tokenizer::detail::regex::available) return;
  copied_folder const folder("added_decoder");
  redco::tokenizer::any_tokenizer const tokenizer = redco::read_tokenizer(folder.path);
  CHECK(tokenizer.vocabulary_size() == 304);
  CHECK(tokenizer.specials().padding == 303);
  CHECK(tokenizer.specials().all == numbers{0, 303});
  // The token <x> is found because it is not special, <pad> is not found.
  CHECK(tokenizer.encode("<x><pad>", {.find_special = false}).size() == 6);
  folder.change("tokenizer_config.json", "\"303\"", "\"311\"");
  CHECK(says(folder.refused(),
             "tokenizer_config.json: added_tokens_decoder.311 gives id 311 to the token \"<pad>\", which has 303 "
             "by tokenizer.json or as the next free id"));
  folder.change("tokenizer_config.json", "\"311\"", "\"many\"");
  CHECK(says(folder.refused(), "added_tokens_decoder.many has a key that is no id"));
}

TEST_CASE("files of added tokens count if tokenizer_config.json lists none") {
  if (!redco::tokenizer::detail::regex::available) return;
  copied_folder const map("added_map"), json("added_json");
  redco::tokenizer::any_tokenizer const mapped = redco::read_tokenizer(map.path);
  CHECK(mapped.specials().padding == 300);
  CHECK(mapped.specials().all == numbers{0, 300, 301, 302});
  CHECK(redco::read_tokenizer(json.path).specials().all ==
        numbers{0, 302});  // "<pad>" has a name, the other tokens have none
  json.write("added_tokens.json", R"({"<x>": 300, "<z>": 304})");
  CHECK(says(json.refused(), "added_tokens.json: <z> gives id 304 to the token \"<z>\", which has 301"));
  json.write("added_tokens.json", "[]");
  CHECK(says(json.refused(), "added_tokens.json: should be a JSON object"));
  // The map takes precedence over tokenizer_config.json.
  map.write("special_tokens_map.json", R"({"eos_token": "<end>"})");
  CHECK(redco::read_tokenizer(map.path).specials().end == 300);
  map.change("tokenizer_config.json", "{", "{\"added_tokens_decoder\": {}, ");
  CHECK(redco::read_tokenizer(map.path).specials().end == 0);
}

TEST_CASE("settings that versions of transformers read differently are refused if they disagree") {
  if (!redco::tokenizer::detail::regex::available) return;
  copied_folder const folder("llama_no_prefix_5");
  folder.change("tokenizer_config.json", "{", "{\"add_bos_token\": true, ");
  CHECK(folder.refused() == "");
  folder.change("tokenizer_config.json", "\"add_bos_token\": true", "\"add_bos_token\": false");
  CHECK(says(folder.refused(),
             "tokenizer_config.json: add_bos_token is false, but the post_processor of tokenizer.json puts <s> "
             "around a text"));
  folder.change("tokenizer_config.json", "\"add_bos_token\": false", "\"add_eos_token\": true");
  CHECK(says(folder.refused(), "add_eos_token is true, but the post_processor of tokenizer.json does not put </s>"));
  folder.change("tokenizer_config.json", "\"add_eos_token\": true", "\"split_special_tokens\": true");
  CHECK(says(folder.refused(), "split_special_tokens true is not computed here"));
}

TEST_CASE("legacy and add_prefix_space of LlamaTokenizer override tokenizer.json, which cannot contradict defaults") {
  if (!redco::tokenizer::detail::regex::available) return;
  copied_folder const folder("llama_first_5"), legacy("llama_legacy_5");
  auto const tokens = [](copied_folder const& one) { return redco::read_tokenizer(one.path).encode("</s>the cat"); };
  CHECK(tokens(folder) != tokens(legacy));  // a space after </s>, or none
  folder.change("tokenizer_config.json", "{", "{\"legacy\": true, ");
  CHECK(tokens(folder) == tokens(legacy));
  legacy.change("tokenizer_config.json", "LlamaTokenizer", "PreTrainedTokenizerFast");
  CHECK(tokens(folder) == tokens(legacy));  // tokenizer.json adds a space
  folder.change("tokenizer.json", "\"prepend\": \"\u2581\"", "\"prepend\": \"\"");
  CHECK(
      says(folder.refused(),
           "tokenizer.json: puts no space before a text, as transformers 4 reads it; LlamaTokenizer of transformers 5 "
           "puts one; set add_prefix_space in tokenizer_config.json to false or true"));
  folder.change("tokenizer_config.json", "{", "{\"add_prefix_space\": true, ");
  CHECK(tokens(folder) == tokens(legacy));
  folder.change("tokenizer_config.json", "\"legacy\": true", "\"legacy\": \"yes\"");
  CHECK(says(folder.refused(), "tokenizer_config.json: legacy should be true or false"));
}

TEST_CASE("clean_up_tokenization_spaces is followed for all models except BPE and refused if it is not a bool") {
  if (!redco::tokenizer::detail::regex::available) return;
  CHECK(redco::read_tokenizer(copied_folder("cleaned_bert").path).cleans_spaces());
  CHECK_FALSE(redco::read_tokenizer(copied_folder("bert_cased").path).cleans_spaces());
  CHECK_FALSE(redco::read_tokenizer(copied_folder("cleaned_bpe_5").path).cleans_spaces());
  copied_folder const forced("cleaned_bpe_forced");
  CHECK(redco::read_tokenizer(forced.path).cleans_spaces());
  forced.change("tokenizer_config.json", "spaces\": true", "spaces\": false");
  CHECK_FALSE(redco::read_tokenizer(forced.path).cleans_spaces());
  forced.change("tokenizer_config.json", "spaces\": false", "spaces\": 1");
  CHECK(says(forced.refused(), "tokenizer_config.json: clean_up_tokenization_spaces should be true or false"));
}

TEST_CASE("vocab.json with merges.txt is read for known classes, and a broken vocab.txt is refused by its line") {
  if (!redco::tokenizer::detail::regex::available) return;
  copied_folder const pairs("files_gpt2"), words("files_bert");
  pairs.write("tokenizer_config.json", "{}");
  CHECK(redco::read_tokenizer(pairs.path).encode("hello") ==
        redco::read_tokenizer(copied_folder("files_gpt2").path).encode("hello"));
  pairs.write("config.json", R"({"model_type": "codegen"})");
  CHECK(says(pairs.refused(),
             "has vocab.json and merges.txt, but its tokenizer_class \"\" is none of GPT2, Roberta, Bart"));
  pairs.write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
  CHECK(says(pairs.refused(), "its tokenizer_class \"CLIP\" is none of"));
  words.write("vocab.txt", "[PAD]\na\na\n");
  CHECK(says(words.refused(), "vocab.txt:3: the token \"a\" is there already"));
  words.write("vocab.txt", "a\r\nb");
  CHECK(says(words.refused(), "model.unk_token is \"[UNK]\", which is not in model.vocab"));
}

TEST_CASE("a Unigram model takes the segmentation of the best score, and of equal ones the longer last token") {
  auto const model =
      redco::tokenizer::json_tokenizer::parse(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0],
    ["a", 5], ["ab", -20], ["xy", -2], ["x", -1], ["yz", -2], ["z", -1], ["y", -9], ["q", -3]]}})",
                                              "u");
  CHECK(model.encode("ab") == numbers{2});  // "a" and an unknown "b" are 5 - (20 + 10)
  CHECK(model.encode("xyz") == numbers{4, 5});
  CHECK(model.encode("q?!q") == numbers{8, 0, 8});
}

TEST_CASE("a Unigram model or a table of replacements that is broken is refused") {
  if (!redco::tokenizer::detail::regex::available) return;
  auto const refused = [](std::string const& from, std::string const& to) {
    copied_folder const folder("unigram_5");
    folder.change("tokenizer.json", from, to);
    return folder.refused();
  };
  CHECK(says(refused("\"unk_id\": 2", "\"unk_id\": null"), "model has no unk_id"));
  CHECK(says(refused("\"unk_id\": 2", "\"unk_id\": 4000"), "model.unk_id is the id of no token"));
  CHECK(says(refused("[[\"<pad>\", 0.0]", "[[\"</s>\", 0.0]"),
             "model.vocab [1] should be a token that no other piece has"));
  CHECK(says(refused("[[\"<pad>\", 0.0]", "[[\"<pad>\"]"), "model.vocab [0] should be a token"));
  CHECK(says(refused("\"Unigram\"", "\"BPE\""), "model.vocab should be a JSON object"));
  CHECK(says(refused("\"precompiled_charsmap\": \"", "\"precompiled_charsmap\": \"*"),
             "is no table of SentencePiece in base64"));
  CHECK(says(refused("\"precompiled_charsmap\": \"", "\"precompiled_charsmap\": \"////"),
             "is no table of SentencePiece"));
}

TEST_CASE("a damaged table of replacements gives UTF-8 or is refused") {
  if (!redco::tokenizer::detail::regex::available) return;
  std::ifstream in(test_files() / "tokenizers/unigram_5/tokenizer.json");
  std::string const whole{std::istreambuf_iterator<char>(in), {}};
  std::size_t const begin = whole.find("precompiled_charsmap\": \"") + 24;
  std::size_t const size = whole.find('"', begin) - begin;
  for (std::size_t at = 0; at < size; at += 1 + size / 400) {
    std::string damaged = whole;
    damaged[begin + at] = damaged[begin + at] == 'z' ? 'A' : 'z';
    std::string const sentence = refusal([&] {
      auto const tokenizer = redco::tokenizer::json_tokenizer::parse(damaged, "damaged");
      for (std::string const text : {"\uFB01nd e\u0301 \u2603\u2603", "\uFF41\uFF42 \t\n\u00BD"})
        tokenizer.encode(text);
    });
    CHECK((sentence.empty() || says(sentence, "precompiled_charsmap")));
  }
}
