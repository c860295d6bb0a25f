#pragma once

#include <redco/layer/attention.hpp>
#include <redco/layer/projection_biases.hpp>
#include <redco/layer/rotary.hpp>
#include <redco/layer/sliding_window.hpp>

#include <redco/model/stored_name.hpp>
#include <redco/model/swiglu_decoder.hpp>

#include <cstdint>

namespace redco {

/// The sizes of a Qwen2; the defaults are Qwen2-7B's.
struct qwen2_config {
  std::int64_t vocab = 152064;
  std::int64_t context = 131072;
  std::int64_t width = 3584;
  std::int64_t ffn = 18944;
  std::int64_t heads = 28;
  std::int64_t kv_heads = 4;
  std::int64_t head_dim = 0;  ///< 0: width / heads
  std::int64_t layers = 28;
  std::int64_t window = 0;  ///< keys that a query sees, its own among them; 0: all
  double norm_epsilon = 1e-6;
  double theta = 1000000;
  std::int64_t padding = -1;     ///< the id whose embedding is not trained
  double attention_dropout = 0;  ///< on attention probabilities
  activation_kind activation = activation_kind::silu;
  double deviation = 0.02;  ///< of the normal distribution that weights start from
};

/// Qwen2 (Yang et al. 2024): a SwiGLU decoder with rotary positions, grouped key-value heads and biases on q, k and v only.
struct qwen2 {
  using attention =
      causal_attention<&qwen2_config::width, &qwen2_config::heads, key_value_heads<&qwen2_config::kv_heads>,
                       head_dim<&qwen2_config::head_dim>, biased<projection_biases{true, false}>,
                       attention_dropout<&qwen2_config::attention_dropout>, rotary<&qwen2_config::theta>,
                       sliding_window<&qwen2_config::window>>;
  using net = swiglu_decoder<qwen2_config, attention>::net;

  qwen2_config config;
};

/// Qwen2 with its head tied to the token embedding, as in Qwen2-0.5B and Qwen2-1.5B.
struct qwen2_tied {
  using net = swiglu_decoder<qwen2_config, qwen2::attention, true>::net;

  qwen2_config config;
};

/// In stored_names/qwen2.hpp.
template <>
struct stored_names<qwen2>;
template <>
struct stored_names<qwen2_tied>;

}  // namespace redco
