#pragma once

#include <string_view>

namespace redco::log {

/// Returns the unit in which a run's speed is counted, chosen by the members of the type `Batch`.
/// The unit is "tokens" for `input_ids` or `decoder_ids`, "images" for `images`, `image` or
/// `pixel_values`, and otherwise "examples".
template <class Batch>
constexpr std::string_view unit_of() {
  if constexpr (
      requires(Batch const& b) { b.input_ids; } || requires(Batch const& b) { b.decoder_ids; })
    return "tokens";
  else if constexpr (
      requires(Batch const& b) { b.images; } || requires(Batch const& b) { b.image; } ||
      requires(Batch const& b) { b.pixel_values; })
    return "images";
  else return "examples";
}

}  // namespace redco::log
