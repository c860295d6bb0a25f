#pragma once

#include <redco/json/value.hpp>

#include <optional>
#include <string_view>

namespace redco {

/// A part of a model's computation and the words by which keys of a config.json speak of it.
struct key_meaning {
  std::string_view words;  ///< separated by spaces
  std::string_view about;
  std::optional<double> neutral = {};  ///< number that changes nothing
};

/// A key has the first of these meanings that has one of its words. A key without such a word is
/// taken for bookkeeping.
inline constexpr key_meaning key_meanings[] = {
    {"quantization quantized quantize quant bits gptq awq bnb compression", "quantized weights"},
    {"rope rotary yarn ntk xpos mrope nope alibi position positions positional", "positions"},
    {"window windows sliding local sparse", "attention to some of the tokens"},
    {"attention attn head heads kv query queries key keys qk qkv gqa mqa causal bidirectional mask masked",
     "attention"},
    {"moe expert experts router routed routing", "a mixture of experts"},
    {"scale scales scaled scaling multiplier multipliers factor factors", "a factor on values", 1},
    {"cap capping softcap softcapping clip clamp logit logits", "a bound on values"},
    {"norm norms normalize normalized normalization layernorm rmsnorm eps epsilon", "norms"},
    {"bias biases", "biases"},
    {"activation act gelu relu silu glu swiglu geglu gated gate", "an activation function"},
    {"dropout dropouts drop pdrop layerdrop droppath", "dropout", 0},
    {"residual skip shared tie tied", "connections between layers"},
    {"adapter adapters lora", "adapters"},
    {"vision audio image video text encoder decoder backbone", "a part of a model"},
    {"prune pruned pruning sparsity", "removed weights"},
    {"layer layers depth block blocks hidden width dim dims size sizes inner ffn mlp intermediate embedding embeddings "
     "embed kernel stride conv",
     "sizes"}};

/// Returns true for null, false, "", {} and []: values that ask for nothing.
bool says_nothing(json::json_value const& value);

/// The meaning of a key that no family asks for; nullptr where its name or its value shows that it
/// changes nothing.
key_meaning const* meaning_of(std::string_view key, json::json_value const& value);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/from_config/key_meanings.inl.hpp>
#endif
