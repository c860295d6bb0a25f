#include "catch.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"
#include "test_files.hpp"

#include <redco/tokenizer/detail/json_node.hpp>
#include <redco/tokenizer/detail/regex.hpp>
#include <redco/tokenizer/detail/splitter.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Compares the pre-tokenizer Split with the `tokenizers` library (make_splits.py).

namespace {

redco::json::json_value const& reference() {
  static redco::json::json_value const read = redco::json::read_json(test_files() / "splits.json");
  return read;
}

}  // namespace

TEST_CASE("the pre-tokenizer Split forms words by its behavior as the reference does") {
  if (!redco::tokenizer::detail::regex::available) return;
  int rows = 0;
  for (redco::json::json_value const& row : reference().at("splits")) {
    INFO(row.at("pre_tokenizer").dump());
    redco::tokenizer::detail::splitter const split(
        redco::tokenizer::detail::json_node(row.at("pre_tokenizer"), "tokenizer.json: pre_tokenizer"));
    redco::tokenizer::detail::splitter::searches searches(split);
    for (std::size_t i = 0; i < reference().at("texts").size(); ++i) {
      std::string const text = reference().at("texts")[i];
      INFO(text);
      std::vector<std::string> words;
      split(text, true, searches, [&](std::string_view word) { words.emplace_back(word); });
      CHECK(words == row.at("words")[i].get<std::vector<std::string>>());
    }
    ++rows;
  }
  CHECK(rows == 90);
}

TEST_CASE("a Gemma tokenizer with a tokenizer.model gives the ids of the reference", "[outside]") {
  if (!redco::tokenizer::detail::regex::available) return;
  std::filesystem::path const folder = shared_folder() / "cases" / "52-gemma-tokenizer-split";
  if (!std::filesystem::exists(folder)) return skip("no reference data in " + folder.string());
  redco::tokenizer::any_tokenizer const tokenizer = redco::read_tokenizer(folder / "gemma");
  for (redco::json::json_value const& row : reference().at("gemma")) {
    INFO(row.dump());
    CHECK(tokenizer.encode(row.at("text").get<std::string>()) == row.at("ids").get<std::vector<std::int64_t>>());
  }
  // A file of JSON can hold no NUL.
  std::string const text("\0null a\0b\0", 10);
  std::vector<std::int64_t> const ids = {2, 13, 416, 451, 436, 436, 276, 13, 452, 13};
  CHECK(tokenizer.encode(text) == ids);
  CHECK(tokenizer.decode(ids) == text);
}
