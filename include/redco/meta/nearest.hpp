#pragma once

#include <span>
#include <string>
#include <string_view>

namespace redco::meta {

/// The name among `names` that a person who typed `typed` most likely meant, for "did you mean ...": the first one at
/// the least edit distance, or empty when even that is more than a third of the longer word (at least two edits) away.
std::string nearest(std::string_view typed, std::span<std::string const> names);

}  // namespace redco::meta

#ifndef REDCO_COMPILED
#include <redco/meta/nearest.inl.hpp>
#endif
