#pragma once

#include <redco/options/detail/entry.hpp>
#include <redco/options/row.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace redco::options::detail {

std::vector<row> rows_of(std::vector<entry> const& entries);

/// Returns the source (default, file or flag) of the value of the option `name`. Throws `error`
/// with exit code 70 if no option has this name.
provenance source_of(std::vector<row> const& rows, std::string_view name);

/// Returns a flat JSON object with the values of all options, in the format of a --config file.
std::string json_text(std::vector<row> const& rows);

void print(std::vector<row> const& rows, std::ostream& out);

}  // namespace redco::options::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/detail/rows.inl.hpp>
#endif
