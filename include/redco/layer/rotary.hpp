#pragma once

#include <redco/layer/attention_scores.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/rotary_angles.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// Rotary positions (Su et al. 2021), a trait of attention: queries and keys are turned where they lie, before they are
/// saved, by angles that position and frequency give; backward makes the angles again and turns the gradients back. `Dims`
/// features of each head turn, all where it is 0.
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

}  // namespace redco
