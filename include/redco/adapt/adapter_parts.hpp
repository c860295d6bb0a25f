#pragma once

#include <redco/adapt/plan/adapter_place.hpp>

#include <redco/ckpt/state_part.hpp>
#include <redco/model/stored_name.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// Adapters as PEFT's file has them.
struct adapter_parts {
  std::vector<ckpt::state_part> parts;
  std::vector<adapter_place> places;  ///< one for each
};

/// Those of these parts: named and placed as in PEFT's file; values are views. Errors: those of
/// `adapter_place_of`.
inline adapter_parts adapter_parts_of(std::span<stored_name const> names, std::span<ckpt::state_part const> parts) {
  adapter_parts found;
  for (ckpt::state_part const& part : parts) {
    ckpt::detail::check_part(part);
    adapter_place place = adapter_place_of(names, part.name, part.shape, part.place);
    found.parts.push_back(
        {place.part.name, place.part.shape, ckpt::detail::held_values(part), place.part.place, part.owner});
    found.places.push_back(std::move(place));
  }
  return found;
}

}  // namespace redco
