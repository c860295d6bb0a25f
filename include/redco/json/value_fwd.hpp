#pragma once

#include <nlohmann/json_fwd.hpp>

namespace redco {

/// A JSON value whose objects keep the order in which their keys were added. Declared here: whoever looks inside one
/// includes <redco/json/value.hpp>, a second of compilation. Looking a key up is linear in the size of the object: walk
/// large objects, do not search them.
using json_value = nlohmann::ordered_json;

}  // namespace redco
