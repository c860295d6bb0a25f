#pragma once

#include <redco/workdir/run_config.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
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

}  // namespace redco::workdir
