#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace redco::json {

/// Returns the value of a whole JSON text, in linear time. Skips a leading byte order mark. Numbers
/// with a point, an exponent or more than 64 bits become doubles, so code that expects an integer
/// refuses 4.0. Large numbers such as 1000000000000000019884624838656, which programs write for "no
/// limit", are accepted.
///
/// Throws `error` with exit code 65 ("source:line:column: why") for invalid JSON and for texts that
/// programs interpret differently: equal keys in one object, NUL, or more than `limits`.
json_value parse_json(std::string_view text, std::string const& source, json_limits limits = {});

/// Returns the value of the JSON file at `path`; parse_json() states the rules. Reads at most
/// `limits.bytes` bytes into memory.
///
/// Throws `error` with exit code 65 if the file is missing, is no regular file, or is refused by
/// parse_json(). Throws `error` with exit code 74 if the system cannot read the file.
json_value read_json(std::filesystem::path const& path, json_limits limits = {});

}  // namespace redco::json

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/json/parse.inl.hpp>
#endif
