#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama_configs.hpp>

#include <string_view>

namespace redco {

/// Mistral as a config.json names it.
struct mistral_from_config {
  static constexpr std::string_view name = "mistral";

  /// A sliding window of null is none, an absent one is that of the first release.
  static llama read(config_reader& c) {
    llama model{mistral_7b};
    read_swiglu_keys(c, model.config, "MistralForCausalLM");
    model.config.window = c.extent({"sliding_window"}, c.names("sliding_window") ? 0 : model.config.window);
    c.finish();
    return model;
  }
};

}  // namespace redco
