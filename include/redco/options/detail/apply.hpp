#pragma once

#include <redco/options/detail/entry.hpp>

#include <string_view>
#include <vector>

namespace redco::options::detail {

/// Sets the members of the user's struct to which `entries` point: first from the file given by
/// --config, then from flags in `argv`. Members with neither keep their defaults. `about`: first
/// sentence of the help text.
void apply(std::vector<entry>& entries, int argc, char const* const* argv, std::string_view about);

}  // namespace redco::options::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/detail/apply.inl.hpp>
#endif
