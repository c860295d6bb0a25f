// config.json files of public models, from config_shapes.json: models of the supported families
// with the further keys of their files, and models of close families. Each row is read, or refused
// with words about its computation. transformers gave the numbers of parameters
// (config_shapes.py).
#include "catch.hpp"
#include "from_config.hpp"
#include "refused.hpp"
#include "test_files.hpp"

#include <redco/pretrained/from_config/families.hpp>
#include <redco/shard/facts.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/json/parse.hpp>

#include <cstdint>
#include <string>

namespace from_config_test {

/// Returns the number of parameters as transformers count them, without BART's fixed bias.
std::int64_t parameters_of(redco::json::json_value const& config) {
  return redco::pretrained::model_from_config(config, "c.json", [](auto const& model) {
    std::int64_t sum = 0;
    for (redco::fact::parameter_fact const& f : redco::shard::facts_of(model).parameters)
      sum += f.name.view() == "final_logits.bias" ? 0 : f.shape.count() * f.copies();
    return sum;
  });
}

TEST_CASE("shapes of public config.json files are read, or refused because of the computation") {
  redco::json::json_value const file = redco::json::read_json(test_files() / "config_shapes.json");
  int read = 0, refused_ones = 0;
  for (auto const& shape : file.at("shapes")) {
    INFO(shape.at("name").get<std::string>());
    redco::json::json_value config = redco::json::json_value::object();
    if (shape.contains("base")) config = file.at("bases").at(shape.at("base").get<std::string>());
    config.update(shape.at("keys"));
    std::int64_t parameters = 0;
    std::string const why = refused([&] { parameters = parameters_of(config); });
    INFO(why);
    if (shape.contains("refused")) {
      CHECK(why.starts_with("65 c.json: "));
      CHECK(why.find(shape.at("refused").get<std::string>()) != std::string::npos);
      ++refused_ones;
    } else {
      CHECK(why == "");
      CHECK(parameters == shape.at("parameters").get<std::int64_t>());
      ++read;
    }
  }
  CHECK((read >= 80 && refused_ones >= 40));
}

}  // namespace from_config_test
