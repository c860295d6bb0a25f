#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/rotary.hpp>
#include <redco/layer/rotary_angles.hpp>

#include <redco/model/stored_name.hpp>
#include <redco/model/swiglu_decoder.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a LLaMA; the defaults are LLaMA-7B's.
struct llama_config {
  std::int64_t vocab = 32000;
  std::int64_t context = 2048;
  std::int64_t width = 4096;
  std::int64_t ffn = 11008;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 32;
  std::int64_t head_dim = 0;  ///< 0: width / heads
  std::int64_t layers = 32;
  double norm_epsilon = 1e-6;
  double theta = 10000;
  rotary_scaling scaling = {};
  bool attention_bias = false;
  bool mlp_bias = false;
  std::int64_t padding = -1;     ///< the id whose embedding is not trained
  double attention_dropout = 0;  ///< on attention probabilities
  activation_kind activation = activation_kind::silu;
  double deviation = 0.02;  ///< of the normal distribution that weights start from
};

/// LLaMA (Touvron et al. 2023; Llama 3: Dubey et al. 2024): a SwiGLU decoder with rotary positions on halves of each head and
/// grouped key-value heads.
struct llama {
  using attention =
      causal_attention<&llama_config::width, &llama_config::heads, key_value_heads<&llama_config::kv_heads>,
                       head_dim<&llama_config::head_dim>, biased<&llama_config::attention_bias>,
                       attention_dropout<&llama_config::attention_dropout>,
                       rotary<&llama_config::theta, 0, rotary_pairs::halves, &llama_config::scaling>>;
  using net = swiglu_decoder<llama_config, attention, false, &llama_config::mlp_bias>::net;

  llama_config config;
};

/// LLaMA with its head tied to the token embedding, as in Llama 3.2 1B.
struct llama_tied {
  using net = swiglu_decoder<llama_config, llama::attention, true, &llama_config::mlp_bias>::net;

  llama_config config;
};

/// In stored_names/llama.hpp.
template <>
struct stored_names<llama>;
template <>
struct stored_names<llama_tied>;

}  // namespace redco
