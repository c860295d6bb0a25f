#pragma once

#include <span>
#include <string>
#include <string_view>

namespace redco::meta {

/// Returns the name in `names` that a person who typed `typed` most likely meant, for "did you mean
/// ...". The first name at the least edit distance is chosen. A name is ignored if its distance
/// reaches its length, or exceeds both 2 and a third of the longer word. Returns an empty string if
/// all are ignored.
std::string nearest(std::string_view typed, std::span<std::string const> names);

}  // namespace redco::meta

#ifndef REDCO_COMPILED
#include <redco/meta/nearest.inl.hpp>
#endif
