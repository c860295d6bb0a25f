#pragma once

#include <redco/layer/activation.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/embedding.hpp>
#include <redco/layer/gated.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/query_key_norm.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/rms_norm.hpp>
#include <redco/layer/rotary.hpp>
#include <redco/layer/rotary_angles.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/sliding_window.hpp>

#include <redco/model/stored_name.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a LLaMA or a related model; the defaults are those of LLaMA-7B. See
/// llama_configs.hpp for other models.
struct llama_config {
  std::int64_t vocab = 32000;
  std::int64_t context = 2048;
  std::int64_t width = 4096;
  std::int64_t ffn = 11008;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 32;
  std::int64_t head_dim = 0;  ///< Features of a head; 0: width / heads
  std::int64_t layers = 32;
  double norm_epsilon = 1e-6;
  double theta = 10000;
  rotary_scaling scaling = {};
  bool attention_bias = false;  ///< True for biases on q, k, v and o
  bool mlp_bias = false;
  std::int64_t padding = -1;     ///< Token id whose embedding is not trained
  double attention_dropout = 0;  ///< Dropout probability on attention probabilities
  activation_kind activation = activation_kind::silu;
  double deviation = 0.02;      ///< Standard deviation of the normal initial weights
  bool tied = false;            ///< True if the head's table is the token embedding's
  bool qkv_bias = false;        ///< True for biases on q, k and v
  std::int64_t window = 0;      ///< Number of keys that a query sees, including its own; 0: all
  bool query_key_norm = false;  ///< True to normalise queries and keys in each head

  constexpr projection_biases biases() const { return {attention_bias || qkv_bias, attention_bias}; }
};

/// A LLaMA model (Touvron et al. 2023; Llama 3: Dubey et al. 2024), or a decoder that differs only
/// in its config: Mistral (Jiang et al. 2023), Qwen2 (Yang et al. 2024), Qwen3 (Yang et al. 2025).
/// Pre-norm blocks with RMS norms and a gated feed-forward, rotary positions on halves of each
/// head, grouped key-value heads. Initial weights are normal.
struct llama {
  static constexpr auto vocab = &llama_config::vocab;
  static constexpr auto width = &llama_config::width;
  static constexpr auto ffn = &llama_config::ffn;
  static constexpr auto epsilon = &llama_config::norm_epsilon;
  static constexpr auto mlp_bias = &llama_config::mlp_bias;

  using attention =
      causal_attention<width, &llama_config::heads, key_value_heads<&llama_config::kv_heads>,
                       head_dim<&llama_config::head_dim>, biased<&llama_config::biases>,
                       query_key_norm<&llama_config::query_key_norm, epsilon>,
                       attention_dropout<&llama_config::attention_dropout>, sliding_window<&llama_config::window>,
                       rotary<&llama_config::theta, 0, rotary_pairs::halves, &llama_config::scaling>>;
  using attention_branch =
      residual<sequential<named<"input_layernorm", rms_norm<width, epsilon>>, named<"self_attn", attention>>>;
  using mlp = sequential<gated<width, ffn, activation<&llama_config::activation>, mlp_bias>,
                         named<"down", linear<ffn, width, mlp_bias>>>;
  using mlp_branch =
      residual<sequential<named<"post_attention_layernorm", rms_norm<width, epsilon>>, named<"mlp", mlp>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head = language_head<vocab, width, "embed_tokens.weight", head_bias::none, &llama_config::tied>;
  using net = initialised<&llama_config::deviation,
                          sequential<named<"embed_tokens", embedding<vocab, width, "", &llama_config::padding>>,
                                     named<"layers", repeat<&llama_config::layers, block>>,
                                     named<"norm", rms_norm<width, epsilon>>, named<"lm_head", head>>>;

  llama_config config;
};

/// Names of LLaMA's parameters in Hugging Face files; defined in pretrained/stored_names/llama.hpp.
template <>
struct stored_names<llama>;

}  // namespace redco
