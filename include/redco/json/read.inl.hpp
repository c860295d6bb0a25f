#pragma once

#include <redco/json/read.hpp>

#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

namespace redco::json {

REDCO_INLINE json_value read_json(std::filesystem::path const& path, json_limits limits) {
  return parse_json(diag::input_file(path).text(limits.bytes), path.string(), limits);
}

}  // namespace redco::json
