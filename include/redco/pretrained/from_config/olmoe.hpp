#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/expert_keys.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/olmoe.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes an OLMoE model from the keys of a config.json.
struct olmoe_from_config {
  static constexpr std::string_view name = "olmoe";

  static models::olmoe read(config_reader& c) {
    models::olmoe model{{.ffn = 2048, .kv_heads = 0}};
    read_swiglu_keys(c, model.config, {"OlmoeForCausalLM", {}, {"OlmoeModel"}});
    read_expert_keys(c, model.config);
    read_expert_flags(c, model.config);
    detail::check_layer_types(c, model.config.layers, 0);
    c.only("clip_qkv", nullptr);
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
