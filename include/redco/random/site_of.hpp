#pragma once

#include <cstdint>
#include <string_view>

namespace redco::random {

/// Returns the site number of a name (its FNV-1a hash), for the key of a stream. Equal on all
/// meshes and machines.
constexpr std::uint32_t site_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace redco::random
