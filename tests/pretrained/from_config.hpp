#pragma once

#include "catch.hpp"

#include <redco/pretrained/from_config/families.hpp>
#include <redco/shard/facts.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/json/parse.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

// Models that configurations describe, and refusals of configurations.

namespace from_config_test {

inline std::string const gpt2 =
    R"("model_type": "gpt2", "vocab_size": 97, "n_positions": 48, "n_embd": 48, "n_head": 4, "n_layer": 2)";
inline std::string const llama =
    R"("model_type": "llama", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48, "intermediate_size": 80,
       "num_attention_heads": 4, "num_hidden_layers": 2)";

template <class M>
std::int64_t numbers_in(M const& model) {
  std::int64_t sum = 0;
  for (redco::fact::parameter_fact const& f : redco::shard::facts_of(model).parameters)
    sum += f.shape.count() * f.copies();
  return sum;
}

/// Returns the number of parameters of the model that a configuration describes.
inline std::int64_t count_of(redco::json::json_value const& config) {
  return redco::pretrained::model_from_config(config, "c.json", [](auto const& m) { return numbers_in(m); });
}
inline std::int64_t numbers_of(std::string const& members) {
  return count_of(redco::json::parse_json("{" + members + "}", "c.json"));
}

inline std::string refusal(std::string const& members) {
  try {
    numbers_of(members);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
  return "accepted";
}

/// Returns the config of the model of type `M` that a configuration describes. Returns the default
/// config if it describes another model.
template <class M>
auto config_of(std::string const& members) {
  decltype(M::config) found;
  redco::json::json_value const config = redco::json::parse_json("{" + members + "}", "c.json");
  redco::pretrained::model_from_config(config, "c.json", [&](auto const& m) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, M>) found = m.config;
    return 0;
  });
  return found;
}

}  // namespace from_config_test
