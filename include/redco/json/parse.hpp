#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::json {

/// Returns the value of a whole JSON text, in time linear in its size. Also refuses texts that
/// readers understand differently: equal keys in one object, NUL, and more than `limits`. Numbers
/// with a point, an exponent or more than 64 bits become doubles. An integer reader thus refuses
/// 4.0. Other readers accept 1000000000000000019884624838656, which other programs write for "no
/// limit". A leading byte order mark is skipped.
///
/// Throws `error` with exit code 65 and the text "source:line:column: why" if the text is refused.
json_value parse_json(std::string_view text, std::string const& source, json_limits limits = {});

}  // namespace redco::json

#ifndef REDCO_COMPILED
#include <redco/json/parse.inl.hpp>
#endif
