#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::json {

/// Parses one JSON text, all of it, in time linear in its size. Besides what JSON forbids, it refuses what readers
/// disagree about: a key twice in one object, NUL anywhere, and more than the limits allow. A number with a point, an
/// exponent or more than 64 bits is a double, so that whoever reads an integer refuses it, and nobody else (4.0 is no
/// integer, and other programs write 1000000000000000019884624838656 for "no limit"). A byte order mark in front is
/// skipped.
///
/// Errors: exit_code::data, "source:line:column: why".
json_value parse_json(std::string_view text, std::string const& source, json_limits limits = {});

}  // namespace redco::json

#ifndef REDCO_COMPILED
#include <redco/json/parse.inl.hpp>
#endif
