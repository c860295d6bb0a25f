#pragma once

#include <redco/adapt/plan/adapter_place.hpp>

#include <redco/ckpt/state_part.hpp>
#include <redco/model/stored_name.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// A list of adapter tensors with PEFT's names and shapes, as one rank holds them.
struct adapter_parts {
  std::vector<ckpt::state_part> parts;
  /// One place for each part: PEFT's module of the tensor.
  std::vector<adapter_place> places;
};

/// Returns a rank's adapter tensors renamed and placed as in PEFT's file; the values are views.
/// Throws the errors of `adapter_place_of`.
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
