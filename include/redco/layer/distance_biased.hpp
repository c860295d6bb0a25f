#pragma once

#include <redco/layer/attention_scores.hpp>

#include <cstdint>

namespace redco {

/// A trait of attention: the bias by distance of the `with_distance_bias` around it is added to the scores.
struct distance_biased {
  template <class Config>
  static constexpr void apply(Config const&, std::int64_t, attention_scores&) {}
};

}  // namespace redco
