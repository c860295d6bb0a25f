#include "catch.hpp"
#include "tests_folder.hpp"

#include <redco/pretrained/from_config/families.hpp>
#include <redco/shard/facts.hpp>
#include <redco/tokenizer/read_tokenizer.hpp>
#include <redco/json/read.hpp>
#include <redco/json/value.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// What transformers 4.47 and 5.23 wrote, and the ids that they gave: tests/saved/make_saved.py.
TEST_CASE("folders are read as transformers 4 and 5 save them") {
  for (std::string const version : {"4.47", "5.23"}) {
    for (std::string const family : {"gpt2", "llama", "qwen2", "bart", "bert"}) {
      INFO(family << " saved by " << version);
      std::filesystem::path const folder = tests_folder() / "saved" / version / family;
      redco::json_value const golden = redco::read_json(folder / "golden.json");
      std::int64_t const numbers =
          redco::model_from_config(redco::read_json(folder / "config.json"), "config.json", [](auto const& model) {
            std::int64_t sum = 0;
            for (redco::parameter_fact const& f : redco::facts_of(model).parameters)
              sum += f.shape.count() * f.copies();
            return sum;
          });
      CHECK(numbers == golden["numbers"].get<std::int64_t>());
      redco::any_tokenizer const tokenizer = redco::read_tokenizer(folder);
      for (redco::json_value const& row : golden["rows"])
        CHECK(tokenizer.encode(row["text"].get<std::string>()) == row["ids"].get<std::vector<std::int64_t>>());
    }
  }
}
