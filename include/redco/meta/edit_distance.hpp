#pragma once

#include <cstddef>
#include <string_view>

namespace redco::meta {

/// Returns the smallest number of edits that turn `a` into `b`. An edit inserts, deletes or
/// replaces a character, or swaps two adjacent ones. No substring is edited twice (restricted
/// Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace redco::meta

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/meta/edit_distance.inl.hpp>
#endif
