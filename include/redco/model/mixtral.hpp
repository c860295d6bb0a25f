#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/routing_traits.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of a Mixtral or Qwen3-MoE model; the defaults are those of
/// Mixtral-8x7B-v0.1. The constant at the end of this file is a config of Qwen3-MoE.
struct mixtral_config {
  std::int64_t vocab = 32000;
  std::int64_t context = 32768;
  std::int64_t width = 4096;
  std::int64_t ffn = 14336;  ///< Number of hidden features of an expert
  std::int64_t heads = 32;
  std::int64_t kv_heads = 8;
  std::int64_t head_dim = 0;  ///< Number of features per attention head; 0: width / heads
  std::int64_t layers = 32;
  std::int64_t experts = 8;
  std::int64_t experts_per_token = 2;
  /// True if the weights of a token's experts are divided by their sum. Together with the softmax
  /// over all experts, this is a softmax over the chosen experts.
  bool normalised = true;
  /// Factor of the auxiliary loss of each block over a micro-batch; 0: none
  double balance = 0;
  double norm_epsilon = 1e-5;
  double theta = 1e6;
  layers::rotary_scaling scaling = {};
  bool attention_bias = false;  ///< True if the q, k, v and o projections of attention have biases
  /// Token id of padding, whose embedding row gets no gradient; -1: none
  std::int64_t padding = -1;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::silu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
  bool tied = false;  ///< True if the language head uses the token embedding's table
  /// Number of keys to which a query attends, including its own position; 0: all earlier keys
  std::int64_t window = 0;
  /// True to normalise queries and keys within each head by their root mean square
  bool query_key_norm = false;
  bool is_mixtral = true;  ///< True if tensors in files have the names of Mixtral
};

/// A Mixtral model (Jiang et al. 2024): a Mistral whose feed-forward layers are mixtures of
/// experts. A config makes it a Qwen3-MoE (Yang et al. 2025), whose attention normalises queries
/// and keys. Initial weights are drawn from a normal distribution.
struct mixtral {
  static constexpr auto vocab = &mixtral_config::vocab;
  static constexpr auto width = &mixtral_config::width;
  static constexpr auto epsilon = &mixtral_config::norm_epsilon;

  using attention = causal_attention<
      width, &mixtral_config::heads, key_value_heads<&mixtral_config::kv_heads>,
      layers::head_dim<&mixtral_config::head_dim>, layers::biased<&mixtral_config::attention_bias>,
      layers::query_key_norm<&mixtral_config::query_key_norm, epsilon>,
      layers::attention_dropout<&mixtral_config::attention_dropout>, layers::sliding_window<&mixtral_config::window>,
      layers::rotary<&mixtral_config::theta, 0, layers::rotary_pairs::halves, &mixtral_config::scaling>>;
  using attention_branch =
      residual<sequential<named<"input_layernorm", rms_norm<width, epsilon>>, named<"self_attn", attention>>>;
  using all_experts = layers::experts<&mixtral_config::experts, width, &mixtral_config::ffn,
                                      layers::activation<&mixtral_config::activation>>;
  using mlp = layers::moe<all_experts, layers::top<&mixtral_config::experts_per_token>, layers::dispatch::cdac,
                          layers::routing::normalised<&mixtral_config::normalised>,
                          layers::routing::auxiliary_loss_per_batch<&mixtral_config::balance>>;
  using mlp_branch =
      residual<sequential<named<"post_attention_layernorm", rms_norm<width, epsilon>>, named<"mlp", mlp>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head =
      layers::language_head<vocab, width, "embed_tokens.weight", layers::head_bias::none, &mixtral_config::tied>;
  using net =
      layers::initialised<&mixtral_config::deviation,
                          sequential<named<"embed_tokens", embedding<vocab, width, "", &mixtral_config::padding>>,
                                     named<"layers", repeat<&mixtral_config::layers, block>>,
                                     named<"norm", rms_norm<width, epsilon>>, named<"lm_head", head>>>;

  mixtral_config config;
};

/// A table of the names of Mixtral's parameters in Hugging Face files, defined in
/// pretrained/stored_names/llama.hpp.
template <>
struct stored_names<mixtral>;

/// Sizes and options of Qwen3-30B-A3B, a Mixtral that normalises queries and keys: `constexpr
/// redco::models::mixtral model{redco::models::qwen3_30b_a3b};`.
inline constexpr mixtral_config qwen3_30b_a3b{.vocab = 151936,
                                              .context = 40960,
                                              .width = 2048,
                                              .ffn = 768,
                                              .kv_heads = 4,
                                              .head_dim = 128,
                                              .layers = 48,
                                              .experts = 128,
                                              .experts_per_token = 8,
                                              .norm_epsilon = 1e-6,
                                              .query_key_norm = true,
                                              .is_mixtral = false};

}  // namespace redco::models
