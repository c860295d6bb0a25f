#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/llama.hpp>

#include <string_view>

namespace redco {

/// LLaMA as a config.json names it.
struct llama_from_config {
  static constexpr std::string_view name = "llama";

  /// Calls `use` with the model, whose head may be tied.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    llama_config g;
    read_swiglu_keys(c, g, "LlamaForCausalLM", &g.scaling);
    g.attention_bias = c.flag("attention_bias", false);
    g.mlp_bias = c.flag("mlp_bias", false);
    c.skip({"pretraining_tp"});
    bool const tied = c.flag("tie_word_embeddings", false);
    c.finish();
    return tied ? use(llama_tied{g}) : use(llama{g});
  }
};

}  // namespace redco
