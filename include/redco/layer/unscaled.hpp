#pragma once

#include <redco/layer/attention_scores.hpp>

#include <cstdint>
#include <string_view>

namespace redco::layers {

/// A trait (option) of attention: scores are q k^T without the factor 1 / sqrt(head_dim). Instead,
/// the standard deviation of q's initial weights has this factor, unless an enclosing layer or the
/// trait `query_deviation` sets the deviation.
struct unscaled {
  static constexpr std::string_view trait_name = "unscaled";

  template <class Config>
  static constexpr void apply(Config const&, std::int64_t, attention_scores& scores) {
    scores.scale = 1;
  }
};

}  // namespace redco::layers
