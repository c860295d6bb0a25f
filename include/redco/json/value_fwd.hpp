#pragma once

#include <nlohmann/json_fwd.hpp>

namespace redco::json {

/// A declaration of `json_value`, for headers that only pass values on. Access to the content needs
/// <redco/json/value.hpp>, which takes a second to compile.
using json_value = nlohmann::ordered_json;

}  // namespace redco::json
