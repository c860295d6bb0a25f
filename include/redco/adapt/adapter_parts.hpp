#pragma once

#include <redco/adapt/plan/adapter_place.hpp>

#include <redco/ckpt/state_part.hpp>
#include <redco/model/stored_name.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::adapt {

/// The parts of LoRA adapter tensors that one rank holds, with the names and shapes of PEFT's file.
struct adapter_parts {
  std::vector<ckpt::state_part> parts;
  /// Position of each tensor in PEFT's file, in the order of `parts`.
  std::vector<adapter_place> places;
};

/// Converts a rank's parts of adapter parameters to the names, shapes and boxes of PEFT's file. The
/// results view the values of `parts`. `names`: names of the frozen model's weights in its own
/// files. Throws the errors of `adapter_place_of`.
inline adapter_parts adapter_parts_of(std::span<models::stored_name const> names,
                                      std::span<ckpt::state_part const> parts) {
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

}  // namespace redco::adapt
