#pragma once

#include <redco/layer/attention_form.hpp>
#include <redco/layer/of.hpp>

#include <string_view>

namespace redco {

/// A trait of attention that sets the number of key-value heads; the default is the number of
/// heads.
///
/// A trait is a type with a `trait_name`, which an attention accepts once. It has a function
/// `apply(config, form)`, or `apply(config, head_dim, scores)` to change how scores are computed. A
/// trait with `of_self_attention` is not accepted by cross-attention.
template <auto Count>
struct key_value_heads {
  static constexpr std::string_view trait_name = "key_value_heads";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.key_value_heads = of<Count>(config);
  }
};

/// A trait of attention that sets the number of features per head to `Features`, whatever the
/// width; 0: width / heads.
template <auto Features>
struct head_dim {
  static constexpr std::string_view trait_name = "head_dim";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    if (of<Features>(config) > 0) form.head_dim = of<Features>(config);
  }
};

/// A trait of attention that says which projections have biases: `Biases` is a bool or
/// `projection_biases`. The default is all.
template <auto Biases>
struct biased {
  static constexpr std::string_view trait_name = "biased";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.biases = of<Biases>(config);
  }
};

/// A trait of attention that sets the dropout probability of the attention probabilities. The
/// default is 0.
template <auto Probability>
struct attention_dropout {
  static constexpr std::string_view trait_name = "attention_dropout";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.dropout = static_cast<double>(of<Probability>(config));
  }
};

/// A trait of attention that sets the standard deviation of q's initial weights; 0: the default of
/// all weights.
template <auto Deviation>
struct query_deviation {
  static constexpr std::string_view trait_name = "query_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.query_deviation = static_cast<double>(of<Deviation>(config));
  }
};

/// A trait of attention that sets the standard deviation of o's initial weights; 0: the default of
/// all weights.
template <auto Deviation>
struct output_deviation {
  static constexpr std::string_view trait_name = "output_deviation";

  template <class Config>
  static constexpr void apply(Config const& config, attention_form& form) {
    form.output_deviation = static_cast<double>(of<Deviation>(config));
  }
};

}  // namespace redco
