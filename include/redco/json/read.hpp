#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco::json {

/// Parses the JSON file at `path`; no more than the limit is read into memory. See `parse_json`.
///
/// Errors: exit_code::data when the file is missing, no regular one or refused, exit_code::io when the system cannot read
/// it.
json_value read_json(std::filesystem::path const& path, json_limits limits = {});

}  // namespace redco::json

#ifndef REDCO_COMPILED
#include <redco/json/read.inl.hpp>
#endif
