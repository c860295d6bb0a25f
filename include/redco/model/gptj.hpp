#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of a GPT-J model; the defaults are those of GPT-J-6B.
struct gptj_config {
  std::int64_t vocab = 50400;
  std::int64_t context = 2048;
  std::int64_t width = 4096;
  std::int64_t heads = 16;
  std::int64_t rotary_dim = 64;  ///< Number of features per head that get rotary positions
  std::int64_t layers = 28;
  /// Dropout probability applied to embeddings, each block's residual branch and attention
  /// probabilities.
  double dropout = 0;
  std::int64_t inner = 0;  ///< Number of features inside the feed-forward layer; 0: 4 * width
  layers::activation_kind activation = layers::activation_kind::gelu_tanh;
  double norm_epsilon = 1e-5;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr std::int64_t ffn() const { return inner > 0 ? inner : 4 * width; }
};

}  // namespace redco::models

namespace redco {

/// A GPT-J model (Wang and Komatsuzaki 2021). In each block, attention and feed-forward read the
/// output of one norm in parallel, so that their sum is reduced over the ranks once. Dropout is
/// applied to the sum. Rotary positions rotate neighbouring pairs among the first `rotary_dim`
/// features of each head. Attention has no biases; the head has one. Initial weights are drawn from
/// a normal distribution.
struct gptj {
  static constexpr auto vocab = &models::gptj_config::vocab;
  static constexpr auto width = &models::gptj_config::width;
  static constexpr auto heads = &models::gptj_config::heads;
  static constexpr auto rotary_dim = &models::gptj_config::rotary_dim;
  static constexpr auto layers = &models::gptj_config::layers;
  static constexpr auto drop = &models::gptj_config::dropout;
  static constexpr auto epsilon = &models::gptj_config::norm_epsilon;
  static constexpr auto ffn = &models::gptj_config::ffn;

  using attention = causal_attention<width, heads, layers::biased<false>, layers::attention_dropout<drop>,
                                     layers::rotary<layers::real{10000}, rotary_dim, layers::rotary_pairs::neighbours>>;
  using mlp = sequential<named<"fc_in", linear<width, ffn>>, layers::activation<&models::gptj_config::activation>,
                         named<"fc_out", linear<ffn, width>>>;
  using block = residual<sequential<named<"ln_1", layer_norm<width, epsilon>>,
                                    sum<named<"attn", attention>, named<"mlp", mlp>>, dropout<drop>>>;
  using net = layers::initialised<
      &models::gptj_config::deviation,
      sequential<named<"wte", embedding<vocab, width>>, dropout<drop>, named<"h", repeat<layers, block>>,
                 named<"ln_f", layer_norm<width, epsilon>>,
                 named<"lm_head", layers::language_head<vocab, width, "", layers::head_bias::trained>>>>;

  models::gptj_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of GPT-J's parameters in Hugging Face files, defined in
/// pretrained/stored_names/gpt.hpp.
template <>
struct stored_names<gptj>;

}  // namespace redco::models
