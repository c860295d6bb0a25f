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
  /// Factor of the auxiliary loss that balances the experts' loads, per sequence; 0: none
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
  static constexpr auto vocab = &olmoe_config::vocab;
  static constexpr auto width = &olmoe_config::width;
  static constexpr auto epsilon = &olmoe_config::norm_epsilon;

  using attention =
      causal_attention<width, &olmoe_config::heads, key_value_heads<&olmoe_config::kv_heads>,
                       layers::head_dim<&olmoe_config::head_dim>, layers::biased<&olmoe_config::attention_bias>,
                       layers::query_key_norm<true, epsilon, true>,
                       layers::attention_dropout<&olmoe_config::attention_dropout>,
                       layers::rotary<&olmoe_config::theta, 0, layers::rotary_pairs::halves, &olmoe_config::scaling>>;
  using attention_branch =
      residual<sequential<named<"input_layernorm", rms_norm<width, epsilon>>, named<"self_attn", attention>>>;
  using all_experts =
      layers::experts<&olmoe_config::experts, width, &olmoe_config::ffn, layers::activation<&olmoe_config::activation>>;
  using mlp = layers::moe<all_experts, layers::top<&olmoe_config::experts_per_token>, layers::dispatch::cdac,
                          layers::routing::normalised<&olmoe_config::normalised>,
                          layers::routing::auxiliary_loss<&olmoe_config::balance>>;
  using mlp_branch =
      residual<sequential<named<"post_attention_layernorm", rms_norm<width, epsilon>>, named<"mlp", mlp>>>;
  using block = sequential<attention_branch, mlp_branch>;
  using head = layers::language_head<vocab, width, "embed_tokens.weight", layers::head_bias::none, &olmoe_config::tied>;
  using net = layers::initialised<&olmoe_config::deviation,
                                  sequential<named<"embed_tokens", embedding<vocab, width, "", &olmoe_config::padding>>,
                                             named<"layers", repeat<&olmoe_config::layers, block>>,
                                             named<"norm", rms_norm<width, epsilon>>, named<"lm_head", head>>>;

  olmoe_config config;
};

/// A table of the names of OLMoE's parameters in Hugging Face files, defined in
/// pretrained/stored_names/llama.hpp.
template <>
struct stored_names<olmoe>;

}  // namespace redco::models
