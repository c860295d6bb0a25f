#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <string>

namespace redco::json {

/// Returns the JSON text of `value` in UTF-8: on one line, or with `indent` spaces per level.
/// Numbers have the fewest digits that give equal doubles.
///
/// Throws `error` with exit code 65 for strings that are not UTF-8, and for NaN and infinity, which
/// JSON cannot represent. Write null or a name instead.
std::string dump_json(json_value const& value, int indent = -1);

}  // namespace redco::json

#ifndef REDCO_COMPILED
#include <redco/json/dump.inl.hpp>
#endif
