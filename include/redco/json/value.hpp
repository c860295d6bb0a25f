#pragma once

#include <nlohmann/json.hpp>

namespace redco::json {

/// A JSON value whose objects keep the order in which keys were added. A lookup by key takes time
/// linear in the size of the object, so code iterates over large objects instead.
using json_value = nlohmann::ordered_json;

}  // namespace redco::json
