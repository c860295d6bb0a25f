#pragma once

#include <redco/options/detail/entry.hpp>

#include <string_view>
#include <vector>

namespace redco::options::detail {

/// Fills the struct behind `entries`: defaults, then the file of --config, then flags.
void apply(std::vector<entry>& entries, int argc, char const* const* argv, std::string_view about);

}  // namespace redco::options::detail

#ifndef REDCO_COMPILED
#include <redco/options/detail/apply.inl.hpp>
#endif
