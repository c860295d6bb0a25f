#pragma once

#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <string>

namespace redco::json {

/// Returns the JSON text of `value` in UTF-8, on one line, or with `indent` spaces per level if
/// `indent` is not negative. Numbers have the fewest digits that read back as equal doubles.
///
/// Throws `error` with exit code 65 for strings that are not UTF-8, and for NaN and infinity, which
/// JSON cannot represent. Callers write null or a name in their place.
std::string dump_json(json_value const& value, int indent = -1);

}  // namespace redco::json

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/json/dump.inl.hpp>
#endif
