#pragma once

#include <redco/cost/machine.hpp>

#include <redco/json/value_fwd.hpp>

namespace redco::cost {

/// Returns the JSON content of a machine file (measured speeds): schema "redco.machine", version 1.
json::json_value machine_json(machine const& m);

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/machine_json.inl.hpp>
#endif
