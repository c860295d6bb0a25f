#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
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

using layers::every_block;

/// The sizes and options of a Gemma 2 or Gemma 3 model; the defaults are those of gemma-2-2b.
struct gemma_config {
  std::int64_t vocab = 256000;
  std::int64_t context = 8192;
  std::int64_t width = 2304;
  std::int64_t ffn = 9216;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 4;
  std::int64_t head_dim = 256;
  std::int64_t layers = 26;
  /// Number of keys to which a query attends in blocks with a window, including its own position
  std::int64_t window = 4096;
  /// Blocks without a window, whose queries attend to all earlier keys
  layers::block_set full_blocks = every_block(2);
  double theta = 10000;  ///< Base of the rotary angles in blocks without a window
  layers::rotary_scaling scaling = {};
  double local_theta = 10000;  ///< Base of the rotary angles in blocks with a window
  layers::rotary_scaling local_scaling = {};
  double query_scalar = 256;  ///< Scores are divided by the square root of this number
  double score_cap = 50;      ///< Bound of attention scores; 0: none
  double logit_cap = 30;      ///< Bound of logits; 0: none
  /// True to normalise queries and keys within each head by their root mean square (Gemma 3)
  bool query_key_norm = false;
  bool attention_bias = false;  ///< True if the q, k, v and o projections of attention have biases
  bool tied = true;             ///< True if the language head uses the token embedding's table
  /// Token id of padding, whose embedding row gets no gradient; -1: none
  std::int64_t padding = 0;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::gelu_tanh;
  double norm_epsilon = 1e-6;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;

  constexpr double score_factor() const { return 1 / layers::square_root(query_scalar); }
  constexpr double embedding_factor() const { return layers::square_root(static_cast<double>(width)); }
};

/// A Gemma 2 (Gemma Team 2024) or Gemma 3 (Gemma Team 2025) model: a decoder with RMS norms before
/// and after each branch, whose factors are 1 + weight. Some blocks attend to a sliding window of
/// keys and have rotary angles of their own. Embeddings are multiplied by sqrt(width). Gemma 2
/// bounds scores and logits by soft caps; Gemma 3 normalises queries and keys instead.
struct gemma {
  static constexpr auto vocab = &gemma_config::vocab;
  static constexpr auto width = &gemma_config::width;
  static constexpr auto ffn = &gemma_config::ffn;
  static constexpr auto epsilon = &gemma_config::norm_epsilon;

  using norm = rms_norm<width, epsilon, 1>;
  using attention = causal_attention<
      width, &gemma_config::heads, key_value_heads<&gemma_config::kv_heads>, layers::head_dim<&gemma_config::head_dim>,
      layers::biased<&gemma_config::attention_bias>,
      layers::query_key_norm<&gemma_config::query_key_norm, epsilon, false, 1>,
      layers::attention_dropout<&gemma_config::attention_dropout>, layers::score_factor<&gemma_config::score_factor>,
      layers::soft_capped<&gemma_config::score_cap>, layers::sliding_window<&gemma_config::window>,
      layers::rotary<&gemma_config::local_theta, 0, layers::rotary_pairs::halves, &gemma_config::local_scaling>,
      layers::full_in_blocks<&gemma_config::full_blocks, &gemma_config::theta, &gemma_config::scaling>>;
  using attention_branch = residual<sequential<named<"input_layernorm", norm>, named<"self_attn", attention>,
                                               named<"post_attention_layernorm", norm>>>;
  using mlp = sequential<gated<width, ffn, layers::activation<&gemma_config::activation>, false>,
                         named<"down", linear<ffn, width, false>>>;
  using mlp_branch = residual<sequential<named<"pre_feedforward_layernorm", norm>, named<"mlp", mlp>,
                                         named<"post_feedforward_layernorm", norm>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head = layers::language_head<vocab, width, "embed_tokens.weight", layers::head_bias::none, &gemma_config::tied,
                                     &gemma_config::logit_cap>;
  using net = layers::initialised<
      &gemma_config::deviation,
      sequential<named<"embed_tokens", embedding<vocab, width, "", &gemma_config::padding>>,
                 layers::scale<&gemma_config::embedding_factor, true>,
                 named<"layers", repeat<&gemma_config::layers, block>>, named<"norm", norm>, named<"lm_head", head>>>;

  gemma_config config;
};

/// A table of the names of Gemma's parameters in Hugging Face files, defined in
/// pretrained/stored_names/gemma.hpp.
template <>
struct stored_names<gemma>;

/// Sizes and options of gemma-3-1b: `constexpr redco::models::gemma
/// model{redco::models::gemma3_1b};`.
inline constexpr gemma_config gemma3_1b{.vocab = 262144,
                                        .context = 32768,
                                        .width = 1152,
                                        .ffn = 6912,
                                        .heads = 4,
                                        .kv_heads = 1,
                                        .window = 512,
                                        .full_blocks = every_block(6),
                                        .theta = 1000000,
                                        .score_cap = 0,
                                        .logit_cap = 0,
                                        .query_key_norm = true};

}  // namespace redco::models
