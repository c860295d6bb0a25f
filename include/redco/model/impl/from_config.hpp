#pragma once

#include <redco/model/from_config.hpp>

#include <redco/model/from_config/families.hpp>

#include <redco/json/impl/value.hpp>
#include <redco/json/read.hpp>

#include <redco/config.hpp>

namespace redco {

REDCO_INLINE configured<> read_config(std::filesystem::path const& path) {
  std::filesystem::path const file = std::filesystem::is_directory(path) ? path / "config.json" : path;
  json_value const config = read_json(file);
  config_reader c(config, file.string());
  any_model model;
  detail::visit_family(
      c,
      [&](auto const& found) {
        model = found;
        return 0;
      },
      config_families{});
  return {std::move(model), config["model_type"].get<std::string>(), c.unused()};
}

namespace detail {

REDCO_INLINE void refuse_family(std::filesystem::path const& path, std::string const& family,
                                std::vector<std::string> const& taken) {
  std::string list;
  for (std::string const& one : taken) list += (list.empty() ? "" : ", ") + one;
  throw error(exit_code::data, path.string() + " describes a model " + family +
                                   ", which this program does not run; give one of " + list);
}

}  // namespace detail

}  // namespace redco
