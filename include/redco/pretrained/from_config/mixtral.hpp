#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/expert_keys.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/mixtral.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained {

/// A reader that makes a Mixtral model from the keys of a config.json.
struct mixtral_from_config {
  static constexpr std::string_view name = "mixtral";

  static models::mixtral read(config_reader& c) {
    models::mixtral model{{.context = 131072}};
    read_swiglu_keys(c, model.config, {"MixtralForCausalLM", {}, {"MixtralModel"}});
    read_expert_keys(c, model.config);
    model.config.window = c.extent_or_none("sliding_window", 0);
    detail::check_layer_types(c, model.config.layers, model.config.window);
    c.only("router_jitter_noise", 0.0);
    c.finish();
    return model;
  }
};

/// A reader that makes a Qwen3-MoE model from the keys of a config.json.
struct qwen3_moe_from_config {
  static constexpr std::string_view name = "qwen3_moe";

  /// Returns the model that a config.json describes. Every block must have experts: throws `error`
  /// with exit code 65 if "decoder_sparse_step" or "mlp_only_layers" makes one dense.
  static models::mixtral read(config_reader& c) {
    models::mixtral model{{.vocab = 151936,
                           .width = 2048,
                           .kv_heads = 4,
                           .layers = 24,
                           .experts = 128,
                           .experts_per_token = 8,
                           .norm_epsilon = 1e-6,
                           .theta = 10000,
                           .query_key_norm = true,
                           .is_mixtral = false}};
    models::mixtral_config& g = model.config;
    read_swiglu_keys(c, g, {"Qwen3MoeForCausalLM", {}, {"Qwen3MoeModel"}});
    g.ffn = c.extent({"moe_intermediate_size"}, 768);
    read_expert_keys(c, g);
    read_expert_flags(c, g);
    bool const is_windowed = c.flag("use_sliding_window", false);
    std::int64_t const window = c.extent_or_none("sliding_window", 4096);
    g.window = is_windowed ? window : 0;
    detail::check_layer_types(c, g.layers, g.window);
    refuse_dense_blocks(c, g.layers);
    // The class in transformers does not read these keys.
    c.skip({"max_window_layers", "use_qk_norm", "qkv_bias"});
    c.finish();
    return model;
  }

 private:
  static void refuse_dense_blocks(config_reader& c, std::int64_t layers) {
    constexpr std::string_view why = ": feed-forward layers without experts in some blocks are not supported; ";
    json::json_value const step = c.integer({"decoder_sparse_step"}, 1, 1);
    if (step != 1) c.refuse(c.is("decoder_sparse_step", step) + std::string(why) + "only 1 is");
    json::json_value const* const dense = c.find("mlp_only_layers");
    if (dense == nullptr) return;
    if (!dense->is_array()) c.refuse(c.is("mlp_only_layers", *dense) + "; write a list of layers");
    for (json::json_value const& layer : *dense)
      if (!layer.is_number_integer() || (layer >= 0 && layer < layers))
        c.refuse(c.is("mlp_only_layers", *dense) + std::string(why) + "only [] is");
  }
};

}  // namespace redco::pretrained
