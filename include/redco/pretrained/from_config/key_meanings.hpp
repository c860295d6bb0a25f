#pragma once

#include <redco/json/value.hpp>

#include <optional>
#include <string_view>

namespace redco::pretrained {

/// A part of a model's computation, such as dropout, and the words by which the names of
/// config.json keys refer to it.
struct key_meaning {
  std::string_view words;  ///< Words in names of keys, separated by spaces
  std::string_view about;
  /// Value of such a key that changes nothing; nullopt: no such value.
  std::optional<double> neutral = {};
};

/// Table that maps words in the names of config.json keys to parts of the computation, for keys
/// that no model family reads. The first entry with a word of the key's name applies. A key without
/// any of these words does not change the computation.
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

/// Returns true if a value of a config.json key requests nothing: null, false, "", {} and [].
bool says_nothing(json::json_value const& value);

/// Returns the part of the computation that a config.json key seems to change, for a key that no
/// model family read. Returns nullptr if the key's name or value shows that the key changes
/// nothing.
key_meaning const* meaning_of(std::string_view key, json::json_value const& value);

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/from_config/key_meanings.inl.hpp>
#endif
