#pragma once

#include <nlohmann/json_fwd.hpp>

namespace redco::json {

/// `json_value` as a declaration, for headers that pass one on: to look inside takes <redco/json/value.hpp>, a second of
/// compilation.
using json_value = nlohmann::ordered_json;

}  // namespace redco::json
