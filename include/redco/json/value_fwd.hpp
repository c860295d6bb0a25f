#pragma once

#include <nlohmann/json_fwd.hpp>

namespace redco::json {

/// A declaration of the type of JSON values, for headers that only pass values on. Code that
/// accesses the content includes <redco/json/value.hpp>, which takes a second to compile.
using json_value = nlohmann::ordered_json;

}  // namespace redco::json
