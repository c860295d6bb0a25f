#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace redco::meta {

/// Returns the smallest number of edits that turn `a` into `b`. An edit inserts, deletes or
/// replaces a character, or swaps two adjacent ones. No substring is edited twice (restricted
/// Damerau-Levenshtein distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the name in `names` that a user who typed `typed` most likely meant, for messages such
/// as "did you mean x?". The result has the smallest edit distance and is the first among equals.
/// Ignores a name if its distance reaches its length, or exceeds both 2 and a third of the longer
/// word. Returns an empty string if all names are ignored.
std::string nearest(std::string_view typed, std::span<std::string const> names);

}  // namespace redco::meta

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/meta/nearest.inl.hpp>
#endif
