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

/// The sizes and options of a LLaMA model or a related model; the defaults are those of LLaMA-7B.
/// The constants at the end of this file are configs of Mistral and Qwen.
struct llama_config {
  std::int64_t vocab = 32000;
  std::int64_t context = 2048;
  std::int64_t width = 4096;
  std::int64_t ffn = 11008;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 32;
  std::int64_t head_dim = 0;  ///< Number of features per attention head; 0: width / heads
  std::int64_t layers = 32;
  double norm_epsilon = 1e-6;
  double theta = 10000;
  layers::rotary_scaling scaling = {};
  bool attention_bias = false;  ///< True if the q, k, v and o projections of attention have biases
  bool mlp_bias = false;
  /// Token id of padding, whose embedding row gets no gradient; -1: none
  std::int64_t padding = -1;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::silu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
  bool tied = false;      ///< True if the language head uses the token embedding's table
  bool qkv_bias = false;  ///< True if the q, k and v projections of attention have biases
  /// Number of keys to which a query attends, including its own position; 0: all earlier keys
  std::int64_t window = 0;
  /// True to normalise queries and keys within each head by their root mean square
  bool query_key_norm = false;
  std::int64_t rotary_dims = 0;      ///< Number of features per head that are rotated; 0: all
  layers::block_set unrotated = {};  ///< Blocks without rotary positions
  /// True if files store q, k and v as one tensor, and gate and up as another
  bool fused_in_files = false;

  constexpr layers::projection_biases biases() const { return {attention_bias || qkv_bias, attention_bias}; }
};

}  // namespace redco::models

namespace redco {

/// A LLaMA model (Touvron et al. 2023; Llama 3: Dubey et al. 2024). A config makes it a Mistral
/// (Jiang et al. 2023), Qwen2 (Yang et al. 2024), Qwen3 (Yang et al. 2025), Phi-3 (Abdin et al.
/// 2024) or SmolLM3 (Bakouch et al. 2025). Blocks have RMS norms before each branch, a gated
/// feed-forward, rotary positions and grouped key-value heads. Initial weights are drawn from a
/// normal distribution.
struct llama {
  static constexpr auto vocab = &models::llama_config::vocab;
  static constexpr auto width = &models::llama_config::width;
  static constexpr auto ffn = &models::llama_config::ffn;
  static constexpr auto epsilon = &models::llama_config::norm_epsilon;
  static constexpr auto mlp_bias = &models::llama_config::mlp_bias;

  using attention = causal_attention<
      width, &models::llama_config::heads, key_value_heads<&models::llama_config::kv_heads>,
      layers::head_dim<&models::llama_config::head_dim>, layers::biased<&models::llama_config::biases>,
      layers::query_key_norm<&models::llama_config::query_key_norm, epsilon>,
      layers::attention_dropout<&models::llama_config::attention_dropout>,
      layers::sliding_window<&models::llama_config::window>,
      layers::rotary<&models::llama_config::theta, &models::llama_config::rotary_dims, layers::rotary_pairs::halves,
                     &models::llama_config::scaling, &models::llama_config::unrotated>>;
  using attention_branch =
      residual<sequential<named<"input_layernorm", rms_norm<width, epsilon>>, named<"self_attn", attention>>>;
  using mlp = sequential<gated<width, ffn, layers::activation<&models::llama_config::activation>, mlp_bias>,
                         named<"down", linear<ffn, width, mlp_bias>>>;
  using mlp_branch =
      residual<sequential<named<"post_attention_layernorm", rms_norm<width, epsilon>>, named<"mlp", mlp>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head =
      layers::language_head<vocab, width, "embed_tokens.weight", layers::head_bias::none, &models::llama_config::tied>;
  using net =
      layers::initialised<&models::llama_config::deviation,
                          sequential<named<"embed_tokens", embedding<vocab, width, "", &models::llama_config::padding>>,
                                     named<"layers", repeat<&models::llama_config::layers, block>>,
                                     named<"norm", rms_norm<width, epsilon>>, named<"lm_head", head>>>;

  models::llama_config config;
};

}  // namespace redco

namespace redco::models {

/// A table of the names of LLaMA's parameters in Hugging Face files, defined in
/// pretrained/stored_names/llama.hpp.
template <>
struct stored_names<llama>;

/// Sizes and options of Mistral-7B-v0.1, a LLaMA with a sliding window: `constexpr redco::llama
/// model{redco::models::mistral_7b};`.
inline constexpr llama_config mistral_7b{
    .context = 32768, .ffn = 14336, .kv_heads = 8, .norm_epsilon = 1e-5, .window = 4096};

/// Sizes and options of Qwen2-7B, a LLaMA with biases on q, k and v: `constexpr redco::llama
/// model{redco::models::qwen2_7b};`.
inline constexpr llama_config qwen2_7b{.vocab = 152064,
                                       .context = 131072,
                                       .width = 3584,
                                       .ffn = 18944,
                                       .heads = 28,
                                       .kv_heads = 4,
                                       .layers = 28,
                                       .theta = 1000000,
                                       .qkv_bias = true};

/// Sizes and options of Qwen3-8B, a LLaMA that normalises queries and keys: `constexpr redco::llama
/// model{redco::models::qwen3_8b};`.
inline constexpr llama_config qwen3_8b{.vocab = 151936,
                                       .context = 40960,
                                       .ffn = 12288,
                                       .kv_heads = 8,
                                       .head_dim = 128,
                                       .layers = 36,
                                       .theta = 1000000,
                                       .query_key_norm = true};

/// Sizes and options of SmolLM3-3B, a LLaMA without rotary positions in every fourth block:
/// `constexpr redco::llama model{redco::models::smollm3_3b};`.
inline constexpr llama_config smollm3_3b{.vocab = 128256,
                                         .context = 65536,
                                         .width = 2048,
                                         .heads = 16,
                                         .kv_heads = 4,
                                         .layers = 36,
                                         .theta = 5000000,
                                         .padding = 128004,
                                         .tied = true,
                                         .unrotated = {{0x0000000888888888, 0}}};

}  // namespace redco::models
