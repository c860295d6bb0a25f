#pragma once

#include <redco/model/expert_decoder.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/attention_traits.hpp>

#include <cstdint>

namespace redco::models {

/// The sizes and options of an OLMoE model; the defaults are those of OLMoE-1B-7B-0924.
struct olmoe_config {
  std::int64_t vocab = 50304;
  std::int64_t context = 4096;
  std::int64_t width = 2048;
  std::int64_t ffn = 1024;  ///< Number of hidden features of an expert
  std::int64_t heads = 16;
  std::int64_t kv_heads = 16;
  std::int64_t head_dim = 0;  ///< Number of features per attention head; 0: width / heads
  std::int64_t layers = 16;
  std::int64_t experts = 64;
  std::int64_t experts_per_token = 8;
  bool normalised = false;  ///< True if the weights of a token's experts are divided by their sum
  /// Factor of the auxiliary loss of each text and block, whose counts are divided by
  /// `experts_per_token`; 0: none
  double balance = 0;
  double norm_epsilon = 1e-5;
  double theta = 10000;
  layers::rotary_scaling scaling = {};
  bool attention_bias = false;  ///< True if the q, k, v and o projections of attention have biases
  /// Token id of padding, whose embedding row gets no gradient; -1: none
  std::int64_t padding = 1;
  double attention_dropout = 0;  ///< Dropout probability of attention probabilities
  layers::activation_kind activation = layers::activation_kind::silu;
  /// Standard deviation of initial weights, drawn from a normal distribution
  double deviation = 0.02;
  bool tied = false;  ///< True if the language head uses the token embedding's table
};

/// An OLMoE model (Muennighoff et al. 2024): like LLaMA, but its feed-forward layers are mixtures
/// of experts, and queries and keys are normalised over all heads together. Initial weights are
/// drawn from a normal distribution.
struct olmoe {
  static constexpr auto epsilon = &olmoe_config::norm_epsilon;
  using net =
      detail::expert_decoder<olmoe_config, &olmoe_config::balance, layers::query_key_norm<true, epsilon, true>>::net;

  olmoe_config config;
};

/// A table of the names of OLMoE's parameters in Hugging Face files, defined in
/// pretrained/stored_names/llama.hpp.
template <>
struct stored_names<olmoe>;

}  // namespace redco::models
