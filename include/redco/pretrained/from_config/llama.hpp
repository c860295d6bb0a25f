#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained {

/// A reader that makes a LLaMA model from the keys of a config.json.
struct llama_from_config {
  static constexpr std::string_view name = "llama";

  static llama read(config_reader& c) {
    llama model;
    model.config.kv_heads = 0;
    read_swiglu_keys(c, model.config, {"LlamaForCausalLM", {"LLaMAForCausalLM"}, {"LlamaModel"}});
    model.config.attention_bias = c.flag("attention_bias", false);
    model.config.mlp_bias = c.flag("mlp_bias", false);
    detail::check_layer_types(c, model.config.layers, 0);
    c.finish();
    return model;
  }
};

/// A reader that makes a Mistral model from the keys of a config.json.
struct mistral_from_config {
  static constexpr std::string_view name = "mistral";

  /// Returns the model that a config.json describes. If the key sliding_window is null, attention
  /// has no window.
  static llama read(config_reader& c) {
    llama model{{.context = 131072, .ffn = 14336, .kv_heads = 8, .window = 4096}};
    read_swiglu_keys(c, model.config, {"MistralForCausalLM", {}, {"MistralModel"}});
    model.config.window = c.extent_or_none("sliding_window", model.config.window);
    detail::check_layer_types(c, model.config.layers, model.config.window);
    c.finish();
    return model;
  }
};

/// A reader that makes a Qwen2 model from the keys of a config.json.
struct qwen2_from_config {
  static constexpr std::string_view name = "qwen2";

  static llama read(config_reader& c) {
    llama model{{.vocab = 151936, .context = 32768, .ffn = 22016}};
    read_swiglu_keys(c, model.config, {"Qwen2ForCausalLM", {}, {"Qwen2Model"}});
    model.config.qkv_bias = true;
    c.skip({"dual_chunk_attention_config"});  // its class attends to all tokens
    model.config.window = read_qwen_window(c, model.config.layers);
    c.finish();
    return model;
  }
};

/// A reader that makes a Qwen3 model from the keys of a config.json.
struct qwen3_from_config {
  static constexpr std::string_view name = "qwen3";

  /// Returns the model that a config.json describes. An attention head has 128 features by default.
  static llama read(config_reader& c) {
    llama model{{.vocab = 151936, .context = 32768, .ffn = 22016, .head_dim = 128}};
    read_swiglu_keys(c, model.config, {"Qwen3ForCausalLM", {}, {"Qwen3Model"}});
    model.config.query_key_norm = true;
    model.config.attention_bias = c.flag("attention_bias", false);
    model.config.window = read_qwen_window(c, model.config.layers);
    c.finish();
    return model;
  }
};

/// A reader that makes a SmolLM3 model from the keys of a config.json.
struct smollm3_from_config {
  static constexpr std::string_view name = "smollm3";

  /// Returns the model that a config.json describes. Blocks for which the key no_rope_layers has 0
  /// are not rotated; without the key, this is every fourth block or every no_rope_layer_interval.
  static llama read(config_reader& c) {
    llama model{{.vocab = 128256,
                 .context = 32768,
                 .width = 2048,
                 .heads = 16,
                 .kv_heads = 4,
                 .layers = 36,
                 .theta = 2e6,
                 .padding = 128004,
                 .tied = true}};
    models::llama_config& g = model.config;
    read_swiglu_keys(c, g, {"SmolLM3ForCausalLM", {}, {"SmolLM3Model"}});
    g.attention_bias = c.flag("attention_bias", false);
    g.mlp_bias = c.flag("mlp_bias", false);
    std::int64_t const interval = c.extent({"no_rope_layer_interval"}, 4);
    json::json_value const* const rotated = c.find("no_rope_layers");
    if (rotated != nullptr && (!rotated->is_array() || static_cast<std::int64_t>(rotated->size()) < g.layers))
      c.refuse(c.is("no_rope_layers", *rotated) + "; write a list of 0 or 1 for each of the " +
               std::to_string(g.layers) + " layers");
    for (std::int64_t i = 0; i < g.layers; ++i) {
      json::json_value const flag = rotated != nullptr ? (*rotated)[static_cast<std::size_t>(i)]
                                                       : json::json_value((i + 1) % interval != 0 ? 1 : 0);
      if (flag != 0 && flag != 1) c.refuse(c.is("no_rope_layers", flag) + " in a layer; write 0 or 1");
      if (flag == 1) continue;
      if (i >= layers::block_set::capacity)
        c.refuse("layer " + std::to_string(i) + " has no rotary positions, which is not supported beyond layer " +
                 std::to_string(layers::block_set::capacity - 1));
      g.unrotated.add(i);
    }
    g.window = read_qwen_window(c, g.layers);
    if (g.window != 0) c.refuse("a sliding window is not supported; set \"use_sliding_window\" to false");
    c.finish();
    return model;
  }
};

/// A reader that makes a Phi-3 model from the keys of a config.json.
struct phi3_from_config {
  static constexpr std::string_view name = "phi3";

  /// Returns the model that a config.json describes. Its files store q, k and v as one tensor, and
  /// gate and up as another. A window of at least the context is no window.
  static llama read(config_reader& c) {
    llama model{{.vocab = 32064,
                 .context = 4096,
                 .width = 3072,
                 .ffn = 8192,
                 .kv_heads = 0,
                 .norm_epsilon = 1e-5,
                 .padding = 32000,
                 .fused_in_files = true}};
    models::llama_config& g = model.config;
    g.rotary_dims = read_swiglu_keys(c, g, {"Phi3ForCausalLM", {}, {"Phi3Model"}},
                                     {.share = "partial_rotary_factor", .original = 4096, .only_longrope = true});
    std::int64_t const window = c.extent_or_none("sliding_window", 0);
    g.window = window < g.context ? window : 0;
    detail::check_layer_types(c, g.layers, g.window);
    c.only("attention_bias", false);
    c.only("mlp_bias", false);
    c.only("resid_pdrop", 0.0);
    c.only("embd_pdrop", 0.0);
    // Phi-4-mini has these keys. Its class in transformers does not read them.
    c.skip({"full_attn_mod", "interpolate_factor"});
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
