#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

/// Returns the least number of insertions, deletions, replacements and swaps of adjacent characters
/// that turn `a` into `b` (Damerau-Levenshtein distance; no substring is edited twice).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace redco::meta

#ifndef REDCO_COMPILED
#include <redco/meta/edit_distance.inl.hpp>
#endif
