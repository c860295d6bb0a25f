#pragma once

#include <redco/layer/attention_form.hpp>
#include <redco/layer/of.hpp>

#include <string_view>

namespace redco {

/// Traits of attention that say its sizes; this one, its key-value heads. Without one it has as many key-value heads as heads,
/// width / heads features in each, biases on all projections, no dropout, and starts o like its other weights.
///
/// A trait is a type with a `trait_name`, which an attention takes once, and a function `apply(config, form)`, or
/// `apply(config, head_dim, scores)` for one that changes how scores are made. One with `of_self_attention` is no trait of
/// cross-attention.
template <auto Count>
struct key_value_heads {
  static constexpr std::string_view trait_name = "key_value_heads";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.key_value_heads = of<Count>(config);
  }
};

/// `Features` in each head, whatever the width; 0: width / heads.
template <auto Features>
struct head_dim {
  static constexpr std::string_view trait_name = "head_dim";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    if (of<Features>(config) > 0) form.head_dim = of<Features>(config);
  }
};

/// Biases where `Biases` says, a bool or `projection_biases`.
template <auto Biases>
struct biased {
  static constexpr std::string_view trait_name = "biased";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.biases = of<Biases>(config);
  }
};

/// Dropout on the attention probabilities.
template <auto Probability>
struct attention_dropout {
  static constexpr std::string_view trait_name = "attention_dropout";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.dropout = static_cast<double>(of<Probability>(config));
  }
};

/// q's weights start with a deviation of their own; 0: that of the others.
template <auto Deviation>
struct query_deviation {
  static constexpr std::string_view trait_name = "query_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.query_deviation = static_cast<double>(of<Deviation>(config));
  }
};

/// o's weights start with a deviation of their own; 0: that of the others.
template <auto Deviation>
struct output_deviation {
  static constexpr std::string_view trait_name = "output_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.output_deviation = static_cast<double>(of<Deviation>(config));
  }
};

}  // namespace redco
