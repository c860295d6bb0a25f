#include "catch.hpp"
#include "refused.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/data/mixture.hpp>
#include <redco/data/token_file.hpp>
#include <redco/data/tokenize_files.hpp>
#include <redco/data/views.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/random/uniform.hpp>

#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace views_test {

using redco::data::packed_example;
using ids = std::vector<std::int64_t>;

/// A tokenizer whose ids are bytes; id 0 ends a document.
struct byte_tokenizer {
  redco::tokenizer::special_ids special = {.end = 0, .all = {0}};

  ids encode(std::string_view text, redco::tokenizer::encode_options const& options) const {
    ids all;
    if (options.add_special) all.push_back(1);
    for (char const c : text) all.push_back(static_cast<unsigned char>(c));
    return all;
  }
  std::string decode(std::span<std::int64_t const>, redco::tokenizer::decode_options const&) const { return ""; }
  bool append(std::string&, std::int64_t, bool) const { return true; }
  std::int64_t vocabulary_size() const { return 256; }
  redco::tokenizer::special_ids const& specials() const { return special; }
};

template <class Range>
auto all_of(Range const& range) {
  return std::vector<redco::data::example_of<Range>>(range.begin(), range.end());
}

/// Documents of lengths 3, 0, 7, 1, 2 with the ids 0, 1, 2, ...
std::vector<ids> documents() {
  std::vector<ids> all;
  std::int64_t next = 0;
  for (std::size_t const length : {3U, 0U, 7U, 1U, 2U}) {
    all.emplace_back(length);
    std::iota(all.back().begin(), all.back().end(), next);
    next += static_cast<std::int64_t>(length);
  }
  return all;
}

TEST_CASE("tokenize gives the ids of a text and the end token, or special tokens if asked") {
  std::vector<std::string> const texts{"ab", "", "c"};
  CHECK(all_of(texts | redco::data::tokenize(byte_tokenizer())) == std::vector<ids>{{97, 98, 0}, {0}, {99, 0}});
  auto const marked = texts | redco::data::tokenize(byte_tokenizer(), {.add_special = true, .add_end = false});
  CHECK(all_of(marked) == std::vector<ids>{{1, 97, 98}, {1}, {1, 99}});
  byte_tokenizer endless;
  endless.special.end.reset();
  CHECK(refused([&] { redco::data::tokenize(endless); }) ==
        "65 the tokenizer has no end token for documents: give add_end = false");
}

TEST_CASE("packed documents follow one another, and each id is a label once") {
  auto const all = documents();
  CHECK(all_of(all | redco::data::pack(5)) == std::vector<packed_example>{{{0, 1, 2, 3, 4, 5}, {0, 3}},
                                                                          {{5, 6, 7, 8, 9, 10}, {0, 5}},
                                                                          {{10, 11, 12}, {0, 1}}});
  CHECK(all_of(all | redco::data::pack(12)) ==
        std::vector<packed_example>{{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {0, 3, 10, 11}}});
  CHECK((all | redco::data::pack(1)).size() == 12);
  CHECK((all | redco::data::pack(100)).size() == 1);
  CHECK(refused([] { redco::data::pack(0); }) == "64 pack(0): give a context of at least 1 token");
  CHECK(refused([] {
          std::vector<ids>{{}, {7}} | redco::data::pack(3);
        }) == "65 documents of 1 tokens in all cannot be packed: give at least two tokens");
}

TEST_CASE("steps of a chain can be joined before they get examples") {
  auto const chain = redco::data::tokenize(byte_tokenizer()) | redco::data::pack(4);
  auto const packed = std::vector<std::string>{"ab", "cd", "e"} | chain;  // keeps the texts
  CHECK(all_of(packed) == std::vector<packed_example>{{{97, 98, 0, 99, 100}, {0, 3}}, {{100, 0, 101, 0}, {0, 2}}});
  std::vector<std::int64_t> sizes;
  for (auto const& one : packed | ranges::views::take(1)) sizes.push_back(std::ssize(one.tokens));
  CHECK(sizes == std::vector<std::int64_t>{5});
}

TEST_CASE("pack keeps no document, and refuses one whose length has changed") {
  int reads = 0;
  std::size_t longest = 7;
  auto const all = documents();
  auto const counted = all | ranges::views::transform([&](ids one) {
                         ++reads;
                         one.resize(std::min(one.size(), longest));
                         return one;
                       });
  auto const packed = counted | redco::data::pack(5);
  CHECK(reads == 5);
  CHECK(packed[2] == packed_example{{10, 11, 12}, {0, 1}});
  CHECK(reads == 7);  // the two documents of the example
  longest = 6;
  CHECK(packed[2] == packed_example{{10, 11, 12}, {0, 1}});
  CHECK(
      refused([&] { packed[1]; }) ==
      "65 document 2 has 6 tokens, but had 7 when pack() read it: make the steps before pack() give equal lengths each "
      "time");
}

TEST_CASE("packed texts are the windows of the token file of these texts") {
  temporary_folder const folder;
  auto const gpt2 = test_files() / "tokenizers/files_gpt2";
  std::vector<std::string> const texts{"the first text\n", "a second <|endoftext|> one", "x", "and the last of them"};
  std::string lines;
  for (std::string const& text : texts)
    lines += "{\"text\": \"" + (text.ends_with('\n') ? "the first text\\n" : text) + "\"}\n";
  std::ofstream(folder / "all.jsonl") << lines;
  std::vector<std::string> const inputs{(folder / "all.jsonl").string()};
  redco::data::tokenize_files(gpt2, inputs, folder / "all.ids");
  redco::data::token_file const windows(folder / "all.ids", 6);
  auto const packed = texts | redco::data::tokenize(redco::read_tokenizer(gpt2)) | redco::data::pack(6);
  REQUIRE(packed.size() == windows.size());
  REQUIRE(packed.size() > 2);
  auto const split = windows | redco::data::split_documents(windows.header().end);
  for (std::ptrdiff_t i = 0; i < std::ssize(packed); ++i) {
    CHECK(packed[i].tokens == windows[i]);
    CHECK(packed[i] == split[i]);
  }
  CHECK(refused([&] { windows | redco::data::split_documents(std::nullopt); }) ==
        "65 the windows have no end id: tokenize with a token that ends documents");
}

TEST_CASE("augment gives each example its own numbers in each epoch, from every thread") {
  std::vector<int> const numbers{10, 20, 30};
  auto const draw = [](int number, redco::random::stream s) {
    return std::pair(number, redco::random::uniform_at(s, 0));
  };
  auto const drawn = numbers | redco::data::augment(draw, 7);
  std::vector<double> seen;
  for (std::int64_t const epoch : {0, 1, 5}) {
    redco::data::reading_epoch const reading(epoch);
    for (std::uint64_t i = 0; i < 3; ++i) {
      auto const key = redco::random::seed_of(7, "augment");
      auto const s = redco::random::make_stream(key, 0, i, static_cast<std::uint32_t>(epoch));
      auto const one = drawn[static_cast<std::ptrdiff_t>(i)];
      CHECK(one == std::pair(numbers[i], redco::random::uniform_at(s, 0)));
      seen.push_back(one.second);
      std::pair<int, double> elsewhere;
      std::jthread([&] {
        redco::data::reading_epoch const there(epoch);
        elsewhere = drawn[static_cast<std::ptrdiff_t>(i)];
      }).join();
      CHECK(elsewhere == one);
    }
  }
  seen.push_back((numbers | redco::data::augment(draw))[0].second);
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  CHECK(redco::data::reading_epoch::current() == 0);
}

TEST_CASE("views are sources of mixtures and sets to train on") {
  auto const all = documents();
  std::vector<ids> const more{{20, 21, 22}};
  redco::data::mixture const mixed({.weights = {0.5, 0.5}}, all | redco::data::pack(5), more | redco::data::pack(1));
  CHECK(mixed.size() == 5);
  std::int64_t of_more = 0;
  for (auto const& one : mixed) of_more += one.tokens[0] >= 20;
  CHECK(of_more == 2);
  redco::examples<packed_example> const train = std::vector<ids>(all) | redco::data::pack(5);
  REQUIRE(train.size() == 3);
  std::vector<std::int64_t> const last{2};
  CHECK(train[last].span()[0].tokens == ids{10, 11, 12});
}

}  // namespace views_test
