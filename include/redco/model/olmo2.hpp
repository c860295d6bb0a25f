#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of an OLMo 2 model; the defaults are those of OLMo-2-1124-7B.
struct olmo2_config {
  std::int64_t vocab = 100352;
  std::int64_t context = 4096;
  std::int64_t width = 4096;
  std::int64_t ffn = 11008;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 32;
  std::int64_t head_dim = 0;  ///< Number of features per attention head; 0: width / heads
  std::int64_t layers = 32;
  double norm_epsilon = 1e-6;
  double theta = 500000;
  layers::rotary_scaling scaling = {};
  bool attention_bias = false;  ///< True if the q, k, v and o projections of attention have biases
  /// Token id of padding, whose embedding row gets no gradient; -1: none
  std::int64_t padding = 100277;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::silu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
  bool tied = false;  ///< True if the language head uses the token embedding's table
};

/// An OLMo 2 model (OLMo Team 2024): like LLaMA, but RMS norms follow attention and feed-forward
/// within their branches, and no norm precedes them. Queries and keys are normalised over all heads
/// together. Initial weights are drawn from a normal distribution.
struct olmo2 {
  static constexpr auto vocab = &olmo2_config::vocab;
  static constexpr auto width = &olmo2_config::width;
  static constexpr auto ffn = &olmo2_config::ffn;
  static constexpr auto epsilon = &olmo2_config::norm_epsilon;

  using attention =
      causal_attention<width, &olmo2_config::heads, key_value_heads<&olmo2_config::kv_heads>,
                       layers::head_dim<&olmo2_config::head_dim>, layers::biased<&olmo2_config::attention_bias>,
                       layers::query_key_norm<true, epsilon, true>,
                       layers::attention_dropout<&olmo2_config::attention_dropout>,
                       layers::rotary<&olmo2_config::theta, 0, layers::rotary_pairs::halves, &olmo2_config::scaling>>;
  using attention_branch =
      residual<sequential<named<"self_attn", attention>, named<"post_attention_layernorm", rms_norm<width, epsilon>>>>;
  using mlp = sequential<gated<width, ffn, layers::activation<&olmo2_config::activation>>,
                         named<"down", linear<ffn, width, false>>>;
  using mlp_branch =
      residual<sequential<named<"mlp", mlp>, named<"post_feedforward_layernorm", rms_norm<width, epsilon>>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head = layers::language_head<vocab, width, "embed_tokens.weight", layers::head_bias::none, &olmo2_config::tied>;
  using net = layers::initialised<&olmo2_config::deviation,
                                  sequential<named<"embed_tokens", embedding<vocab, width, "", &olmo2_config::padding>>,
                                             named<"layers", repeat<&olmo2_config::layers, block>>,
                                             named<"norm", rms_norm<width, epsilon>>, named<"lm_head", head>>>;

  olmo2_config config;
};

/// A table of the names of OLMo 2's parameters in Hugging Face files, defined in
/// pretrained/stored_names/llama.hpp.
template <>
struct stored_names<olmo2>;

/// Sizes and options of OLMo-2-0425-1B: `constexpr redco::models::olmo2
/// model{redco::models::olmo2_1b};`.
inline constexpr olmo2_config olmo2_1b{.width = 2048, .ffn = 8192, .heads = 16, .kv_heads = 16, .layers = 16};

}  // namespace redco::models
