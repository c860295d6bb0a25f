#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama.hpp>

#include <string_view>

namespace redco::pretrained {

/// A reader that makes a Mistral model from the keys of a config.json.
struct mistral_from_config {
  static constexpr std::string_view name = "mistral";

  /// Returns the model that a config.json describes. If the key sliding_window is null, attention
  /// has no window.
  static llama read(config_reader& c) {
    llama model{{.context = 131072, .ffn = 14336, .kv_heads = 8, .window = 4096}};
    read_swiglu_keys(c, model.config, {"MistralForCausalLM", {}, {"MistralModel"}});
    model.config.window = c.extent({"sliding_window"}, c.names("sliding_window") ? 0 : model.config.window);
    c.finish();
    return model;
  }
};

}  // namespace redco::pretrained
