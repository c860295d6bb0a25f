#pragma once

#include <redco/model/expert_decoder.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention_traits.hpp>

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
  /// Factor of the auxiliary loss of each text and block, as `router_aux_loss_coef` of
  /// transformers; 0: none
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
  static constexpr auto epsilon = &mixtral_config::norm_epsilon;
  /// Returns the coefficient of `routing::auxiliary_loss`, which divides its counts by the chosen
  /// experts per token. The loss of transformers, of which `balance` is the factor, does not.
  static constexpr double coefficient(mixtral_config const& c) {
    return c.balance * static_cast<double>(c.experts_per_token);
  }
  using net = detail::expert_decoder<mixtral_config, &mixtral::coefficient,
                                     layers::query_key_norm<&mixtral_config::query_key_norm, epsilon>,
                                     layers::sliding_window<&mixtral_config::window>>::net;

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
