#pragma once

#include <string_view>

namespace redco::layers {

/// A trait (option) of an attention layer that adds a learned bias by distance to the scores. The
/// enclosing `with_distance_bias` layer owns the bias.
struct distance_biased {
  static constexpr std::string_view trait_name = "distance_biased";
};

}  // namespace redco::layers
