#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/rotary.hpp>
#include <redco/layer/sliding_window.hpp>

#include <redco/model/stored_name.hpp>
#include <redco/model/swiglu_decoder.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a Mistral; the defaults are Mistral-7B-v0.1's.
struct mistral_config {
  std::int64_t vocab = 32000;
  std::int64_t context = 32768;
  std::int64_t width = 4096;
  std::int64_t ffn = 14336;
  std::int64_t heads = 32;
  std::int64_t kv_heads = 8;
  std::int64_t head_dim = 0;  ///< 0: width / heads
  std::int64_t layers = 32;
  std::int64_t window = 4096;  ///< keys that a query sees, its own among them; 0: all
  double norm_epsilon = 1e-5;
  double theta = 10000;
  std::int64_t padding = -1;     ///< the id whose embedding is not trained
  double attention_dropout = 0;  ///< on attention probabilities
  activation_kind activation = activation_kind::silu;
  double deviation = 0.02;  ///< of the normal distribution that weights start from
};

/// Mistral (Jiang et al. 2023): a SwiGLU decoder with rotary positions, grouped key-value heads and a sliding window.
struct mistral {
  using attention = causal_attention<&mistral_config::width, &mistral_config::heads,
                                     key_value_heads<&mistral_config::kv_heads>, head_dim<&mistral_config::head_dim>,
                                     biased<false>, attention_dropout<&mistral_config::attention_dropout>,
                                     rotary<&mistral_config::theta>, sliding_window<&mistral_config::window>>;
  using net = swiglu_decoder<mistral_config, attention>::net;

  mistral_config config;
};

/// Mistral with its head tied to the token embedding.
struct mistral_tied {
  using net = swiglu_decoder<mistral_config, mistral::attention, true>::net;

  mistral_config config;
};

/// In stored_names/mistral.hpp.
template <>
struct stored_names<mistral>;
template <>
struct stored_names<mistral_tied>;

}  // namespace redco
