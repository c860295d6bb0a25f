#pragma once

#include <redco/model/from_config/config_reader.hpp>
#include <redco/model/from_config/swiglu_keys.hpp>
#include <redco/model/qwen2.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// Qwen2 as a config.json names it, without its sliding window.
struct qwen2_from_config {
  static constexpr std::string_view name = "qwen2";

  /// Calls `use` with the model, whose head may be tied.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    qwen2_config g;
    g.theta = 10000;
    read_swiglu_keys(c, g, "Qwen2ForCausalLM");
    c.only("use_sliding_window", false);
    c.skip({"sliding_window", "max_window_layers"});
    if (json_value const* const types = c.find("layer_types"); types != nullptr)
      for (json_value const& one : *types)
        if (one != "full_attention")
          c.refuse(c.is("layer_types", one) + ", which is not supported; only \"full_attention\" is");
    bool const tied = c.flag("tie_word_embeddings", false);
    c.finish();
    return tied ? use(qwen2_tied{g}) : use(qwen2{g});
  }
};

}  // namespace redco
