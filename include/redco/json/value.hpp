#pragma once

#include <nlohmann/json.hpp>

namespace redco::json {

/// A JSON value whose objects keep the order in which keys were added. The lookup of a key is
/// linear in the size of the object: iterate over large objects instead.
using json_value = nlohmann::ordered_json;

}  // namespace redco::json
