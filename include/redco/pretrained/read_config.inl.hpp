#pragma once

#include <redco/pretrained/read_config.hpp>

#include <redco/pretrained/from_config/families.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <redco/config.hpp>

#include <utility>

namespace redco::pretrained {

REDCO_INLINE configured read_config(std::filesystem::path const& file) {
  json::json_value const config = json::read_json(file);
  config_reader c(config, file.string());
  models::any_model model = detail::read_family(c, config_families{});
  return {std::move(model), config["model_type"].get<std::string>(), c.architecture(), c.unused()};
}

}  // namespace redco::pretrained
