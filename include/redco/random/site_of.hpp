#pragma once

#include <cstdint>
#include <string_view>

namespace redco::random {

/// The site of what has this name, in a stream's key: equal on every mesh and machine (FNV-1a).
constexpr std::uint32_t site_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace redco::random
