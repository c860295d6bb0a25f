#pragma once

#include <redco/layer/attention_scores.hpp>
#include <redco/layer/of.hpp>

#include <cstdint>
#include <string_view>

namespace redco::layers {

/// A trait (option) of causal attention: a query attends to the key at its own position and to the
/// Keys - 1 keys before it (Beltagy et al. 2020). 0: all keys.
template <auto Keys>
struct sliding_window {
  static constexpr std::string_view trait_name = "sliding_window";

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t, attention_scores& scores) {
    scores.window = of<Keys>(config);
  }
};

}  // namespace redco::layers
