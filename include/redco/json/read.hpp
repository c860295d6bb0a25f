#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco {

/// Parses the JSON file at `path`, which may be a pipe; no more than the limit is read into memory. See `parse_json`.
///
/// Errors: exit_code::data when the file is missing, unreadable or refused.
json_value read_json(std::filesystem::path const& path, json_limits limits = {});

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/json/impl/read.hpp>
#endif
