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
inline std::string nearest(std::string_view typed, std::span<std::string const> names) {
  std::string const* best = nullptr;
  std::size_t least = 0;
  for (std::string const& name : names) {
    std::size_t const distance = edit_distance(typed, name);
    std::size_t const longer = typed.size() > name.size() ? typed.size() : name.size();
    bool const plausible = distance < name.size() && (distance <= 2 || distance <= longer / 3);
    if (plausible && (best == nullptr || distance < least)) {
      best = &name;
      least = distance;
    }
  }
  return best == nullptr ? std::string{} : *best;
}

}  // namespace redco::meta

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/meta/nearest.inl.hpp>
#endif
