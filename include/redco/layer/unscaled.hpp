#pragma once

#include <redco/layer/attention_scores.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// A trait of attention: scores are q k^T without the factor 1 / sqrt(head_dim). The factor scales
/// the initial weights of q instead, unless an enclosing layer or `query_deviation` prescribes
/// their deviation.
struct unscaled {
  static constexpr std::string_view trait_name = "unscaled";

  template <class Config>
  static constexpr void apply(Config const&, std::int64_t, attention_scores& scores) {
    scores.scale = 1;
  }
};

}  // namespace redco
