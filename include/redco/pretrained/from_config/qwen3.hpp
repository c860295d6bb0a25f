#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama.hpp>

#include <string_view>

namespace redco::pretrained {

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

}  // namespace redco::pretrained
