#pragma once

#include <redco/layer/attention_scores.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/rotary_angles.hpp>

#include <cstdint>
#include <string_view>

namespace redco::layers {

/// A trait (option) of self-attention that adds rotary positions (Su et al. 2021): the first `Dims`
/// features of each query and key head are rotated by angles position * frequency (0: all
/// features). Queries and keys are rotated in place before they are saved. Backward computes the
/// angles again and rotates the gradients back.
template <auto Theta = real{10000}, auto Dims = 0, rotary_pairs Pairs = rotary_pairs::halves,
          auto Scaling = rotary_scaling{}>
struct rotary {
  static constexpr std::string_view trait_name = "rotary";
  static constexpr bool of_self_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, std::int64_t head_dim, attention_scores& scores) {
    std::int64_t const dims = of<Dims>(config);
    scores.rotary = {dims > 0 ? dims : head_dim, static_cast<double>(of<Theta>(config)), Pairs, of<Scaling>(config)};
  }
};

}  // namespace redco::layers
