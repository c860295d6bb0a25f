#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::json {

/// Returns the value of the JSON file at `path`; parse_json() states the rules. Reads at most
/// `limits.bytes` bytes into memory.
///
/// Throws `error` with exit code 65 if the file is missing, is no regular file, or is refused by
/// parse_json(). Throws `error` with exit code 74 if the system cannot read the file.
json_value read_json(std::filesystem::path const& path, json_limits limits = {});

}  // namespace redco::json

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/json/read.inl.hpp>
#endif
