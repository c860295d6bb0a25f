#pragma once

#include <redco/ckpt/detail/in_file.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/pretrained/adapter_place.hpp>
#include <redco/model/stored_name.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt {

/// Adapters as PEFT's file has them.
struct adapter_parts {
  std::vector<state_part> parts;
  std::vector<adapter_place> places;  ///< one for each
};

/// Those of these parts: named and placed as in PEFT's file; values are views. Errors: those of `adapter_place_of`.
inline adapter_parts adapter_parts_of(std::span<stored_name const> names, std::span<state_part const> parts) {
  adapter_parts found;
  for (state_part const& part : parts) {
    detail::check_part(part);
    adapter_place place = adapter_place_of(names, part.name, part.shape, part.place);
    found.parts.push_back({place.part.name, place.part.shape, detail::held_values(part), place.part.place, part.owner});
    found.places.push_back(std::move(place));
  }
  return found;
}

}  // namespace redco::ckpt
