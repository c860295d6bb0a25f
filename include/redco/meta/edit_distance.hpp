#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (Damerau-Levenshtein, no substring edited twice).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace redco::meta

#ifndef REDCO_COMPILED
#include <redco/meta/edit_distance.inl.hpp>
#endif
