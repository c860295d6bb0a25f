#pragma once

#include <redco/model/llama.hpp>

namespace redco::models {

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

}  // namespace redco::models
