#pragma once

#include <redco/layer/attention_form.hpp>
#include <redco/layer/of.hpp>

#include <string_view>

namespace redco {

/// A trait (option) of an attention layer that sets the number of key-value heads. The default is
/// the number of query heads.
///
/// An attention trait is a type with a name `trait_name`, which a layer accepts once. Its function
/// `apply(config, form)` changes sizes, or `apply(config, head_dim, scores)` changes the
/// computation of scores. Cross-attention rejects a trait with a member `of_self_attention`.
template <auto Count>
struct key_value_heads {
  static constexpr std::string_view trait_name = "key_value_heads";

  template <class Config>
  static constexpr void apply(Config const& config, layers::attention_form& form) {
    form.key_value_heads = layers::of<Count>(config);
  }
};

}  // namespace redco

namespace redco::layers {

/// A trait (option) of an attention layer that sets the number of features per head, independent of
/// the layer's width. The default and the value 0 mean width / heads.
template <auto Features>
struct head_dim {
  static constexpr std::string_view trait_name = "head_dim";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    if (of<Features>(config) > 0) form.head_dim = of<Features>(config);
  }
};

/// A trait (option) of an attention layer that selects the projections with biases. `Biases` is a
/// bool (all or none) or a `projection_biases`. By default, all four projections have biases.
template <auto Biases>
struct biased {
  static constexpr std::string_view trait_name = "biased";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.biases = of<Biases>(config);
  }
};

/// A trait (option) of an attention layer that sets the dropout probability of the attention
/// probabilities. The default is 0.
template <auto Probability>
struct attention_dropout {
  static constexpr std::string_view trait_name = "attention_dropout";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.dropout = static_cast<double>(of<Probability>(config));
  }
};

/// A trait (option) of an attention layer that sets the standard deviation of the initial weights
/// of the query projection. The default and the value 0 mean the model's deviation for all weights.
template <auto Deviation>
struct query_deviation {
  static constexpr std::string_view trait_name = "query_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.query_deviation = static_cast<double>(of<Deviation>(config));
  }
};

/// A trait (option) of an attention layer that sets the standard deviation of the initial weights
/// of the output projection. The default and the value 0 mean the model's deviation for all
/// weights.
template <auto Deviation>
struct output_deviation {
  static constexpr std::string_view trait_name = "output_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.output_deviation = static_cast<double>(of<Deviation>(config));
  }
};

}  // namespace redco::layers
