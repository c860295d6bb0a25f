#pragma once

#include <redco/cost/machine.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <string>

namespace redco::cost {

/// Returns the JSON content of a machine file (measured speeds): schema "redco.machine", version 1.
json::json_value machine_json(machine const& m);

/// Returns the machine (measured speeds) from the JSON content of a machine file that
/// machine_json() has made. `source` is the name of the file in error messages.
///
/// Throws `error` with exit code 65 for another schema or version, missing or unknown keys, invalid
/// numbers, duplicate speeds, or a file without any speed.
machine read_machine(json::json_value const& content, std::string const& source);

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/machine_file.inl.hpp>
#endif
