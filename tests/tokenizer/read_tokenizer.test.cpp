#include "catch.hpp"
#include "fixtures.hpp"
#include "refusal.hpp"
#include "sentencepiece_file.hpp"
#include "temporary_folder.hpp"

#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/sentencepiece.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace {

using ids = std::vector<std::int64_t>;

struct model_folder : temporary_folder {
  void write(std::string const& name, std::string_view bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
  }
};

std::string folder_refusal(std::filesystem::path const& folder) {
  return refusal([&] { redco::read_tokenizer(folder); });
}

std::string unigram_file(bool tidy) {
  sentencepiece_file file;
  file.add("<unk>", 0, sentencepiece_file::unknown);
  file.add("<s>", 0, sentencepiece_file::control);
  file.add("</s>", 0, sentencepiece_file::control);
  for (char const* const piece : {"▁hello", "▁world", "▁", "lo", "hel", "a", "b", "ab", "語", "▁▁"})
    file.add(piece, -2);
  return file.bytes(false, tidy);
}

std::string bpe_file() {
  sentencepiece_file file;
  file.add("<unk>", 0, sentencepiece_file::unknown);
  file.add("<s>", 0, sentencepiece_file::control);
  file.add("</s>", 0, sentencepiece_file::control);
  for (unsigned b = 0; b < 256; ++b) {
    char token[16];
    std::snprintf(token, sizeof token, "<0x%02X>", b);
    file.add(token, 0, sentencepiece_file::byte);
  }
  float score = 0;
  // Ids from 259 on
  for (char const* const piece : {"▁a", "ab", "▁ab", "▁", "a", "b", "c"}) file.add(piece, --score);
  return file.bytes(true, false);
}

}  // namespace

TEST_CASE("a folder's tokenizer.json is read, with the parts that tokenizer_config.json names") {
  model_folder const folder;
  folder.write("tokenizer.json", llama3_file);
  folder.write("tokenizer.model", "not looked at");
  auto const plain = redco::read_tokenizer(folder.path);
  CHECK(plain.encode("hello world") == ids{50, 36, 47});
  CHECK(plain.vocabulary_size() == 52);
  CHECK_FALSE(plain.specials().end);

  folder.write("tokenizer_config.json",
               R"({"bos_token": "<|begin_of_text|>", "pad_token": null, "chat_template": "{{ x }}",
    "eos_token": {"__type": "AddedToken", "content": "<|end_of_text|>", "lstrip": false}})");
  auto const named = redco::read_tokenizer(folder.path);
  CHECK(named.specials().begin == 50);
  CHECK(named.specials().end == 51);
  CHECK_FALSE(named.specials().padding);
  CHECK_FALSE(named.specials().unknown);

  // Added with the next id
  folder.write("tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
  auto const ended = redco::read_tokenizer(folder.path);
  CHECK(ended.specials().end == 52);
  CHECK(ended.encode("hello<|im_end|>") == ids{50, 36, 52});
  folder.write("tokenizer_config.json", R"({"eos_token": 3})");
  CHECK(says(folder_refusal(folder.path), "tokenizer_config.json: eos_token should be a string"));
  folder.write("tokenizer_config.json", "{");
  CHECK(says(folder_refusal(folder.path), "tokenizer_config.json:1:"));
}

TEST_CASE("a folder without a tokenizer is refused") {
  model_folder const folder;
  folder.write("vocab.json", "{}");  // without merges.txt
  CHECK(says(folder_refusal(folder.path), "has neither tokenizer.json nor tokenizer.model nor spiece.model"));
  CHECK(says(folder_refusal(folder.path / "nowhere"), "has neither tokenizer.json"));
  folder.write("tokenizer.json", "");
  CHECK(says(folder_refusal(folder.path), "tokenizer.json:1:1"));
}

TEST_CASE("T5's spiece.model is read with its added tokens") {
  model_folder const folder;
  folder.write("spiece.model", unigram_file(true));
  if (!redco::tokenizer::detail::sentencepiece_model::available) {
    CHECK(says(folder_refusal(folder.path), "needs SentencePiece; install libsentencepiece-dev"));
    return;
  }
  auto const t5 = redco::read_tokenizer(folder.path);
  CHECK(t5.vocabulary_size() == 113);  // with <extra_id_99> to <extra_id_0>
  CHECK(t5.specials().end == 2);
  CHECK(t5.specials().unknown == 0);
  CHECK(t5.specials().all.size() == 102);
  CHECK(t5.encode("") == ids{2});
  CHECK(t5.encode("hello world") == ids{3, 4, 2});
  CHECK(t5.encode("  hello   world ") == ids{3, 4, 2});
  CHECK(t5.encode("hello ab語", {.add_special = false}) == ids{3, 5, 10, 11});
  CHECK(t5.encode("hello\xFF", {.add_special = false}) == ids{3, 0});
  CHECK(t5.encode("hello</s>").back() == 2);
  CHECK(t5.encode("ab</s>b", {.add_special = false}) == ids{5, 10, 2, 5, 9});
  CHECK(t5.encode("ab</s>b", {.add_special = false, .find_special = false}) == ids{5, 10, 0, 9});
  CHECK(t5.encode("hello <extra_id_0> world<extra_id_99>") == ids{3, 112, 4, 13, 2});
  CHECK(t5.decode(ids{3, 112, 4, 13}, {.keep_special = true}) == "hello<extra_id_0> world<extra_id_99>");
  CHECK(says(refusal([&] { t5.encode(std::string((16 << 20) + 1, 'a')); }), "a text of 16777217 bytes"));
  CHECK(t5.decode(ids{3, 4, 2}) == "hello world");
  CHECK(t5.decode(ids{3, 4, 2}, {.keep_special = true}) == "hello world</s>");
  CHECK(t5.decode(ids{3, 0, 4, -1, 13}) == "hello ⁇  world");

  folder.write("tokenizer.json", bert_file);  // takes precedence
  CHECK(redco::read_tokenizer(folder.path).encode("the") == ids{2, 10, 3});
  std::filesystem::remove(folder.path / "tokenizer.json");

  folder.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  CHECK(redco::read_tokenizer(folder.path).encode("hello") == ids{1, 3});
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "add_bos_token": true})");
  CHECK(redco::read_tokenizer(folder.path).encode("hello") == ids{1, 3, 2});
  folder.write("tokenizer_config.json", R"({"clean_up_tokenization_spaces": true})");
  CHECK(redco::read_tokenizer(folder.path).cleans_spaces());
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "LlamaTokenizer", "clean_up_tokenization_spaces": true})");
  CHECK_FALSE(redco::read_tokenizer(folder.path).cleans_spaces());  // a BPE by its class
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "AlbertTokenizer"})");
  CHECK(says(folder_refusal(folder.path), "a SentencePiece tokenizer of class AlbertTokenizer is not computed"));
}

TEST_CASE("LLaMA-2's tokenizer.model is read") {
  if (!redco::tokenizer::detail::sentencepiece_model::available) return;
  model_folder const folder;
  folder.write("tokenizer.model", bpe_file());
  auto const llama = redco::read_tokenizer(folder.path);
  CHECK(llama.encode("") == ids{1});
  CHECK(llama.encode("ab c") == ids{1, 261, 262, 265});
  CHECK(llama.encode(" ab", {.add_special = false}) == ids{262, 261});
  CHECK(llama.encode("語", {.add_special = false}) == ids{262, 235, 173, 161});
  CHECK(llama.decode(ids{1, 261, 262, 265}) == "ab c");
  CHECK(llama.decode(ids{262, 261}) == " ab");
  CHECK(llama.decode(ids{262, 235, 173, 161}) == "語");
  CHECK(llama.decode(ids{262, 235, 173}) == "\uFFFD");
  folder.write("tokenizer.model", "no protocol buffer");
  CHECK(says(folder_refusal(folder.path), "is no SentencePiece model"));
  folder.write("tokenizer.model", "");
  CHECK(says(folder_refusal(folder.path), "is no SentencePiece model"));
  std::filesystem::remove(folder.path / "tokenizer.model");
  std::filesystem::create_directory(folder.path / "tokenizer.model");
  CHECK(says(folder_refusal(folder.path), "tokenizer.model"));
}

TEST_CASE("added tokens of a SentencePiece model are found in a text and decoded") {
  if (!redco::tokenizer::detail::sentencepiece_model::available || !redco::tokenizer::detail::regex::available) return;
  model_folder const folder;
  folder.write("tokenizer.model", bpe_file());
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "LlamaTokenizer", "pad_token": "<pad>", "added_tokens_decoder": {
    "266": {"content": "<x>"}, "267": {"content": "<y>", "lstrip": true, "special": true}}})");
  auto const llama = redco::read_tokenizer(folder.path);
  CHECK(llama.vocabulary_size() == 269);
  CHECK(llama.specials().all == ids{1, 2, 267, 268});
  CHECK(llama.specials().padding == 268);
  CHECK(llama.encode("ab<x>ab </s> <y><pad>") == ids{1, 261, 266, 260, 262, 2, 267, 268});
  CHECK(llama.encode("<x>", {.add_special = false, .find_special = false}) == ids{266});
  CHECK(llama.decode(ids{1, 261, 266, 265, 267}) == "ab<x>c");
  CHECK(llama.decode(ids{261, 267}, {.keep_special = true}) == "ab<y>");
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder": {"300": {"content": "<x>"}}})");
  CHECK(says(folder_refusal(folder.path), "gives id 300 to the token \"<x>\", which has 266"));
}

TEST_CASE("a space precedes the parts of a text that it precedes in LlamaTokenizer of transformers 5") {
  if (!redco::tokenizer::detail::sentencepiece_model::available || !redco::tokenizer::detail::regex::available) return;
  model_folder const folder;
  folder.write("tokenizer.model", bpe_file());
  auto const configured = [&](std::string const& settings) {
    folder.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "pad_token": "<pad>",)" + settings +
                                              R"("added_tokens_decoder": {"266": {"content": "<x>"},
    "267": {"content": "<y>", "lstrip": true, "special": true}}})");
    return redco::read_tokenizer(folder.path);
  };
  std::vector<std::string> const texts{"",      "ab c",     " ab",   "  ab",    "語", "ab<x>ab </s> <y><pad>",
                                       "<x>ab", "ab</s>ab", "<s>ab", " <x> ab", "▁ab"};
  // Ids of transformers 5.24.0, and texts decoded without special tokens, in the order of `texts`.
  std::vector<ids> const first{{},
                               {261, 262, 265},
                               {261},
                               {262, 261},
                               {262, 235, 173, 161},
                               {261, 266, 260, 262, 2, 267, 268},
                               {266, 260},
                               {261, 2, 260},
                               {1, 260},
                               {262, 266, 261},
                               {261}},
      each{{},
           {261, 262, 265},
           {261},
           {262, 261},
           {262, 235, 173, 161},
           {261, 266, 261, 262, 2, 267, 268},
           {266, 261},
           {261, 2, 261},
           {1, 261},
           {262, 266, 261},
           {261}},
      nowhere{{},
              {260, 262, 265},
              {261},
              {262, 261},
              {235, 173, 161},
              {260, 266, 260, 262, 2, 267, 268},
              {266, 260},
              {260, 2, 260},
              {1, 260},
              {262, 266, 261},
              {261}};
  struct expected {
    std::string settings;
    std::vector<ids> const& right;
  };
  for (auto const& [settings, right] : {expected{"", first},
                                        {R"("legacy": false,)", first},
                                        {R"("legacy": true,)", each},
                                        {R"("add_prefix_space": false,)", nowhere},
                                        {R"("add_prefix_space": false, "legacy": true,)", nowhere}}) {
    auto const tokenizer = configured(settings);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO(settings << " " << texts[i]);
      CHECK(tokenizer.encode(texts[i], {.add_special = false}) == right[i]);
    }
  }
  CHECK(configured("").decode(ids{262, 261}) == " ab");
  CHECK(configured("").decode(ids{261, 266, 260, 262, 2, 267, 268}) == "ab<x>ab ");
  CHECK(configured(R"("legacy": true,)").decode(ids{261, 266, 261}) == "ab<x> ab");
  CHECK(configured(R"("add_prefix_space": false,)").decode(ids{262, 261}) == "  ab");
  CHECK(configured(R"("add_prefix_space": false,)").decode(ids{261}) == " ab");
}

TEST_CASE("CodeLlamaTokenizer is refused by name with the setting to change") {
  model_folder const folder;
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "CodeLlamaTokenizer"})");
  for (char const* const file : {"tokenizer.model", "tokenizer.json"}) {
    folder.write(file, "not looked at");
    CHECK(
        says(folder_refusal(folder.path),
             "names the class CodeLlamaTokenizer, which rearranges a text with <FILL_ME> and is not computed here; "
             "for texts without it set tokenizer_class to LlamaTokenizer, add_bos_token to true and legacy to false"));
  }
}

#ifdef REDCO_WITH_SENTENCEPIECE
TEST_CASE("decoding equals the library's") {
  std::mt19937 random(3);
  for (std::string const& file : {unigram_file(true), unigram_file(false), bpe_file()}) {
    model_folder const folder;
    folder.write("spiece.model", file);
    auto const tokenizer = redco::read_tokenizer(folder.path);
    sentencepiece::SentencePieceProcessor library;
    REQUIRE(library.LoadFromSerializedProto(file).ok());
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<int> theirs(random() % 7);
      auto const size = static_cast<unsigned>(library.GetPieceSize());
      for (int& id : theirs) id = static_cast<int>(random() % 2 == 0 ? random() % size : size - 1 - random() % 8);
      std::string text;
      REQUIRE(library.Decode(theirs, &text).ok());
      CAPTURE(theirs);
      // For bytes that are not UTF-8 the library writes one per byte
      if (says(text, "\uFFFD")) continue;
      CHECK(tokenizer.decode(ids(theirs.begin(), theirs.end())) == text);
    }
  }
}
#endif

TEST_CASE("a FIFO or a device in place of a tokenizer's file is refused at once") {
  model_folder const folder;
  auto const refused = [&](std::string const& name) {
    CHECK(says(folder_refusal(folder.path), "cannot read " + (folder.path / name).string()));
    CHECK(says(folder_refusal(folder.path), "not a regular file"));
    std::filesystem::remove(folder.path / name);
  };
  for (std::string const name : {"tokenizer_config.json", "tokenizer.json", "tokenizer.model", "spiece.model"}) {
    INFO(name);
    bool const pieces = name.ends_with(".model");
    if (pieces && !redco::tokenizer::detail::sentencepiece_model::available) continue;
    std::filesystem::create_symlink("/dev/zero", folder.path / name);
    refused(name);
    REQUIRE(::mkfifo((folder.path / name).c_str(), 0600) == 0);
    refused(name);
    if (!pieces) continue;
    folder.write(name, "");
    std::filesystem::resize_file(folder.path / name, std::uintmax_t{257} << 20);  // sparse
    CHECK(says(folder_refusal(folder.path), "more than the 268435456 allowed"));
    std::filesystem::remove(folder.path / name);
  }
}
