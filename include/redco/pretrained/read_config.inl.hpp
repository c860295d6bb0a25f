#pragma once

#include <redco/pretrained/from_config.hpp>

#include <redco/pretrained/from_config/families.hpp>

#include <redco/json/read.hpp>
#include <redco/json/value.hpp>

#include <redco/config.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace redco {

REDCO_INLINE configured<> read_config(std::string const& path) {
  namespace fs = std::filesystem;
  fs::path const file = fs::is_directory(path) ? fs::path(path) / "config.json" : fs::path(path);
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

REDCO_INLINE void refuse_family(std::string const& path, std::string const& family,
                                std::vector<std::string> const& taken) {
  std::string list;
  for (std::string const& one : taken) list += (list.empty() ? "" : ", ") + one;
  throw error(exit_code::data,
              path + " describes a model " + family + ", which this program does not run; give one of " + list);
}

}  // namespace detail

}  // namespace redco
