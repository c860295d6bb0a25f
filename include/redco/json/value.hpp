#pragma once

#include <nlohmann/json.hpp>

namespace redco::json {

/// A JSON value whose objects keep the order in which their keys were added. Looking a key up is linear in the size of the
/// object: walk large objects, do not search them.
using json_value = nlohmann::ordered_json;

}  // namespace redco::json
