#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/pretrained/from_config.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

namespace {

struct config_folder : temporary_folder {
  explicit config_folder(std::string const& text) { std::ofstream(path / "config.json") << text; }
};

std::string const mistral_text =
    R"({"model_type": "mistral", "vocab_size": 95, "max_position_embeddings": 64, "hidden_size": 56,
        "intermediate_size": 72, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3,
        "sliding_window": 5, "tie_word_embeddings": true, "use_cache": true, "bos_token_id": 1})";

}  // namespace

TEST_CASE("a config.json gives the family, its sizes and the keys without effect") {
  config_folder const folder(mistral_text);
  for (std::filesystem::path const& path : {folder.path, folder.path / "config.json"}) {
    auto const found = redco::from_config(path);
    CHECK(found.family == "mistral");
    auto const& model = std::get<redco::mistral_tied>(found.model);
    CHECK((model.config.vocab == 95 && model.config.window == 5 && model.config.kv_heads == 2));
    auto unused = found.unused;
    std::sort(unused.begin(), unused.end());
    CHECK(unused == std::vector<std::string>{"bos_token_id", "use_cache"});
  }
}

TEST_CASE("a program that takes some models refuses the others by name") {
  config_folder const folder(mistral_text);
  CHECK(std::holds_alternative<redco::mistral_tied>(redco::from_config<redco::decoders>(folder.path).model));
  try {
    redco::from_config<redco::encoder_decoders>(folder.path);
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    CHECK(e.what() == folder.path.string() +
                          " describes a model mistral_tied, which this program does not run; give "
                          "one of bart, t5, t5_untied, t5_gated, t5_gated_tied");
  }
}

TEST_CASE("a folder without a config.json says so") {
  try {
    redco::from_config("/nonexistent/folder");
    FAIL("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    CHECK(std::string(e.what()).find("/nonexistent/folder") != std::string::npos);
  }
}
