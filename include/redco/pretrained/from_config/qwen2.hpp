#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a Qwen2 model from the keys of a config.json.
struct qwen2_from_config {
  static constexpr std::string_view name = "qwen2";

  static llama read(config_reader& c) {
    llama model{{.vocab = 151936, .context = 32768, .ffn = 22016}};
    read_swiglu_keys(c, model.config, {"Qwen2ForCausalLM", {}, {"Qwen2Model"}});
    model.config.qkv_bias = true;
    model.config.window = read_qwen_window(c, model.config.layers);
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
