#pragma once

#include <redco/meta/nearest.hpp>

#include <redco/meta/edit_distance.hpp>
#include <redco/config.hpp>

#include <cstddef>

namespace redco::meta {

REDCO_INLINE std::string nearest(std::string_view typed, std::span<std::string const> names) {
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
