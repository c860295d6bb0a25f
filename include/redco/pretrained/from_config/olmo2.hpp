#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/olmo2.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes an OLMo 2 model from the keys of a config.json.
struct olmo2_from_config {
  static constexpr std::string_view name = "olmo2";

  static models::olmo2 read(config_reader& c) {
    models::olmo2 model{
        {.vocab = 50304, .context = 2048, .kv_heads = 0, .norm_epsilon = 1e-5, .theta = 10000, .padding = 1}};
    read_swiglu_keys(c, model.config, {"Olmo2ForCausalLM", {}, {"Olmo2Model"}});
    model.config.attention_bias = c.flag("attention_bias", false);
    detail::check_layer_types(c, model.config.layers, 0);
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
