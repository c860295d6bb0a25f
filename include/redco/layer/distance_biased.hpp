#pragma once

#include <string_view>

namespace redco {

/// A trait of attention that adds the distance bias of the enclosing `with_distance_bias` to the
/// scores.
struct distance_biased {
  static constexpr std::string_view trait_name = "distance_biased";
};

}  // namespace redco
