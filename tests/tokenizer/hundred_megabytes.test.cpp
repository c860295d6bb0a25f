#include "catch.hpp"
#include "fixtures.hpp"
#include "peak_memory.hpp"
#include "processor_time.hpp"
#include "refusal.hpp"
#include "sentencepiece_file.hpp"
#include "temporary_folder.hpp"

#include <redco/tokenizer/detail/sentencepiece.hpp>
#include <redco/tokenizer/json_tokenizer.hpp>
#include <redco/tokenizer/sentencepiece_tokenizer.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

// Long tests (scripts/test --list), because they take minutes and gigabytes. Each tokenizer encodes
// 100 MB as one word and as text.

namespace {

constexpr std::size_t hundred_megabytes = 100'000'000;

std::string repeated(std::string_view piece) {
  std::string text;
  text.reserve(hundred_megabytes + piece.size());
  while (text.size() < hundred_megabytes) text += piece;
  return text;
}

struct repeated_text {
  char const* name;
  std::string_view piece;
};
constexpr repeated_text both[] = {{"one word", "hellohell"}, {"text", "hello world, don't: 12345 \u00E9\u4E2D\n"}};

void check_long(char const* name, redco::tokenizer::json_tokenizer const& tokenizer) {
  for (auto const& [kind, piece] : both) {
    INFO(name << ", " << kind);
    std::string const text = repeated(piece);
    std::int64_t const before = peak_memory::reset();
    double const start = processor_time();
    std::size_t const ids = tokenizer.encode(text, {.add_special = false}).size();
    double const seconds = processor_time() - start;
    double const each = static_cast<double>(peak_memory::now() - before) / static_cast<double>(text.size());
    std::cout << name << ", " << kind << ": " << ids << " ids in " << seconds << " s of processor time, " << each
              << " bytes of memory for each of the text" << std::endl;
    CHECK(ids > 0);
    CHECK(seconds < 900);
    CHECK(each < 64);
  }
}

}  // namespace

TEST_CASE("BPE with a split pattern encodes 100 MB in bounded time and memory", "[.][long_llama3]") {
  check_long("llama3", redco::tokenizer::json_tokenizer::parse(llama3_file, "llama3"));
}

TEST_CASE("BPE with a normal form encodes 100 MB in bounded time and memory", "[.][long_qwen2]") {
  check_long("qwen2", redco::tokenizer::json_tokenizer::parse(qwen2_file, "qwen2"));
}

TEST_CASE("BPE over code points encodes 100 MB in bounded time and memory", "[.][long_llama2]") {
  check_long("llama2", redco::tokenizer::json_tokenizer::parse(llama2_file(), "llama2"));
}

TEST_CASE("WordPiece encodes 100 MB in bounded time and memory", "[.][long_bert]") {
  check_long("bert", redco::tokenizer::json_tokenizer::parse(bert_file, "bert"));
}

TEST_CASE("SentencePiece refuses 100 MB at once with a message") {
  if (!redco::tokenizer::detail::sentencepiece_model::available) return;
  temporary_folder const folder;
  sentencepiece_file file;
  file.add("<unk>", 0, sentencepiece_file::unknown);
  file.add("<s>", 0, sentencepiece_file::control);
  file.add("</s>", 0, sentencepiece_file::control);
  file.add("\u2581hell", -2);
  std::ofstream(folder.path / "spiece.model", std::ios::binary) << file.bytes(false, true);
  redco::tokenizer::sentencepiece_tokenizer const tokenizer(folder.path / "spiece.model");
  for (auto const& [kind, piece] : both) {
    std::string const text = repeated(piece);
    std::int64_t const before = peak_memory::reset();
    CHECK(says(refusal([&] { tokenizer.encode(text); }), "more than the 16 MiB"));
    CHECK(peak_memory::now() - before < (16 << 20));
  }
}
