#pragma once

#include <cstdint>
#include <string_view>

namespace redco::random {

/// Returns the site number of a layer or other use of random numbers, for make_stream(). It is the
/// FNV-1a hash of the name, equal on all meshes and machines.
constexpr std::uint32_t site_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace redco::random
