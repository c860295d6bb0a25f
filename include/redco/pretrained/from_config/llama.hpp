#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a LLaMA model from the keys of a config.json.
struct llama_from_config {
  static constexpr std::string_view name = "llama";

  static llama read(config_reader& c) {
    llama model;
    model.config.kv_heads = 0;
    read_swiglu_keys(c, model.config, {"LlamaForCausalLM", {"LLaMAForCausalLM"}, {"LlamaModel"}},
                     rotary_stretch::llama3);
    model.config.attention_bias = c.flag("attention_bias", false);
    model.config.mlp_bias = c.flag("mlp_bias", false);
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
