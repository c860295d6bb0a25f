#pragma once

#include <redco/layer/attention_form.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/real.hpp>

#include <string_view>

namespace redco::layers {

/// A trait (option) of self-attention that normalises queries and keys of each head by their root
/// mean square (Henry et al. 2020), before rotation. The weights "q_norm.weight" and
/// "k_norm.weight" [head_dim] are shared by all heads. No effect if `Enabled` is false.
template <auto Enabled = true, auto Epsilon = real{1e-6}>
struct query_key_norm {
  static constexpr std::string_view trait_name = "query_key_norm";
  static constexpr bool of_self_attention = true;

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.query_key_norm = of<Enabled>(config);
    form.norm_epsilon = static_cast<double>(of<Epsilon>(config));
  }
};

}  // namespace redco::layers
