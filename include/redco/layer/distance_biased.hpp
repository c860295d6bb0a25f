#pragma once

#include <string_view>

namespace redco {

/// A trait of attention: the bias by distance of the `with_distance_bias` around it is added to the scores.
struct distance_biased {
  static constexpr std::string_view trait_name = "distance_biased";
};

}  // namespace redco
