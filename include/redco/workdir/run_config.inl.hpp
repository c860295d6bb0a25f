#pragma once

#include <redco/workdir/run_config.hpp>

#include <redco/options/deployer_options.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/meta/fields.hpp>
#include <redco/config.hpp>

namespace redco::workdir {

REDCO_INLINE json::json_value run_config(std::string const& options, options::chosen_dtype const& chosen) {
  json::json_value all =
      options.empty() ? json::json_value::object() : json::parse_json(options, "fit_options::config");
  if (!all.is_object()) return all;
  all["dtype"] = std::string(name_of(chosen.compute));
  all["#dtype"] = chosen.why;
  return all;
}

REDCO_INLINE std::map<std::string, std::string> config_settings(std::string const& options) {
  std::map<std::string, std::string> all;
  if (options.empty()) return all;
  json::json_value const config = json::parse_json(options, "the options of the program");
  if (!config.is_object()) return all;
  for (auto const& [name, value] : config.items())
    if (!name.starts_with('#')) all[name] = value.is_string() ? value.get<std::string>() : json::dump_json(value);
  deployer_options deployment;
  meta::for_each_named(deployment, [&all](auto const& field, auto const&) { all.erase(std::string(field.name())); });
  return all;
}

}  // namespace redco::workdir
