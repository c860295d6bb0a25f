// class_defaults.json holds the values that transformers use for keys that a config.json leaves
// out. class_defaults.py writes it.
#include "catch.hpp"
#include "refused.hpp"
#include "test_files.hpp"

#include <redco/pretrained/from_config/families.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/meta/aggregate.hpp>
#include <redco/meta/type_name.hpp>

#include <string>
#include <tuple>
#include <type_traits>

namespace {

using redco::json::json_value;

template <class T>
std::string written(T const& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return redco::json::dump_json(value);
  } else if constexpr (requires { value.begin(); }) {
    std::string list;
    for (auto const& one : value) list += written(one) + " ";
    return "[ " + list + "]";
  } else {
    std::string list;
    redco::meta::for_each_field(value, [&](auto const& member) { list += written(member) + " "; });
    return "{ " + list + "}";
  }
}

/// Returns the type and all values of the model that a config.json describes, or the reason why it
/// is refused.
std::string model_of(json_value const& config) {
  std::string text;
  std::string const why = refused([&] {
    redco::pretrained::model_from_config(config, "c.json", [&]<class M>(M const& model) {
      M same = model;
      if constexpr (requires { same.config.kv_heads; })  // head_dim 0 means width / heads
        if (same.config.head_dim == 0) same.config.head_dim = same.config.width / same.config.heads;
      text = std::string(redco::meta::type_name<M>()) + written(same.config);
      return 0;
    });
  });
  return text + why;
}

json_value with(json_value object, std::string const& key, json_value const& value) {
  object[key] = value;
  return object;
}
json_value without(json_value object, std::string const& key) {
  object.erase(key);
  return object;
}

}  // namespace

TEST_CASE("a key that is left out has the default of the class in transformers") {
  json_value const table = redco::json::read_json(test_files() / "class_defaults.json");
  CHECK(table.at("transformers").size() == 2);
  CHECK(table.at("families").size() == 22);
  for (auto const& [family, one] : table.at("families").items()) {
    json_value const base = with(one.at("base"), "model_type", family);
    std::string const whole = model_of(base);
    INFO(family << ": " << whole);
    CHECK(whole.starts_with("redco::"));
    for (auto const& [key, value] : one.at("absent").items()) {
      INFO(key << " is " << redco::json::dump_json(value));
      std::string const expected = model_of(with(base, key, value));
      CHECK(model_of(without(base, key)) == expected);
      // Changing the key must change the model
      CHECK((expected != whole || value == base.at(key)));
    }
  }
}

TEST_CASE("missing keys of rope scaling are refused or taken from the context, as in transformers") {
  json_value const table = redco::json::read_json(test_files() / "class_defaults.json");
  json_value const rotary = table.at("rotary");
  json_value const base = with(table.at("families").at("llama").at("base"), "model_type", "llama");
  auto const model_with = [&](json_value const& parameters) {
    return model_of(with(base, "rope_scaling", parameters));
  };
  std::string const whole = model_with(rotary);
  CHECK(whole.starts_with("redco::llama"));
  for (auto const& [key, value] : table.at("transformers").at("5.24.0").at("rotary").items()) {
    INFO(key);
    std::string const found = model_with(without(rotary, key));
    if (value == "missing") {
      CHECK(found.find("c.json: rope_scaling: \"" + key + "\" is missing") != std::string::npos);
    } else {
      CHECK((found == model_with(with(rotary, key, value)) && found != whole));
    }
  }
}
