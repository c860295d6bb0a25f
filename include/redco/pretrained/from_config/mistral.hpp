#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/mistral.hpp>

#include <string_view>

namespace redco {

/// Mistral as a config.json names it.
struct mistral_from_config {
  static constexpr std::string_view name = "mistral";

  /// Calls `use` with the model, whose head may be tied. A sliding window of null is none, an absent one is that of the first release.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    mistral model;
    read_swiglu_keys(c, model.config, "MistralForCausalLM");
    model.config.window = c.extent({"sliding_window"}, c.names("sliding_window") ? 0 : model.config.window);
    bool const tied = c.flag("tie_word_embeddings", false);
    c.finish();
    return tied ? use(mistral_tied{model.config}) : use(model);
  }
};

}  // namespace redco
