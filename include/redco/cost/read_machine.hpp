#pragma once

#include <redco/cost/machine.hpp>

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <string>

namespace redco::cost {

/// The machine that a file's content describes; what machine_json writes. `source` is the file's name in errors.
/// Errors: exit_code::data for another schema or version, keys that are missing or unknown, numbers that are none or not
/// positive, the same speed twice, and a description without any speed.
machine read_machine(json::json_value const& content, std::string const& source);

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/read_machine.inl.hpp>
#endif
