#pragma once

#include <redco/options/detail/entry.hpp>

#include <string_view>
#include <vector>

namespace redco::options::detail {

/// Sets the members of the struct that `entries` refer to: first from the file of --config, then
/// from flags. Members without either keep their defaults.
void apply(std::vector<entry>& entries, int argc, char const* const* argv, std::string_view about);

}  // namespace redco::options::detail

#ifndef REDCO_COMPILED
#include <redco/options/detail/apply.inl.hpp>
#endif
