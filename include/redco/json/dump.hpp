#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <string>

namespace redco::json {

/// The JSON text of `value`, UTF-8, with the fewest digits that give back the same doubles: on one line, or with
/// `indent` spaces per level.
///
/// Errors: exit_code::data for strings that are not UTF-8, and for NaN and infinity, which JSON cannot write: say null,
/// or the number's name, where you mean them.
std::string dump_json(json_value const& value, int indent = -1);

}  // namespace redco::json

#ifndef REDCO_COMPILED
#include <redco/json/dump.inl.hpp>
#endif
