#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/swiglu_keys.hpp>
#include <redco/model/qwen2.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace redco {

/// Qwen2 as a config.json names it: all layers with a sliding window, or none.
struct qwen2_from_config {
  static constexpr std::string_view name = "qwen2";

  /// Calls `use` with the model, whose head may be tied.
  template <class Use>
  static auto read(config_reader& c, Use&& use) {
    qwen2_config g;
    g.theta = 10000;
    read_swiglu_keys(c, g, "Qwen2ForCausalLM");
    g.window = read_window(c, g.layers);
    bool const tied = c.flag("tie_word_embeddings", false);
    c.finish();
    return tied ? use(qwen2_tied{g}) : use(qwen2{g});
  }

 private:
  /// The window of layers from `max_window_layers` on, or of those that `layer_types` calls sliding; 0: none.
  static std::int64_t read_window(config_reader& c, std::int64_t layers) {
    bool const used = c.flag("use_sliding_window", false);
    std::int64_t const window = c.extent({"sliding_window"}, 4096), whole = c.integer({"max_window_layers"}, 28, 0);
    std::int64_t sliding = used ? std::max<std::int64_t>(layers - whole, 0) : 0;
    if (json_value const* const types = c.find("layer_types"); types != nullptr) {
      sliding = 0;
      for (json_value const& one : *types) {
        if (one != "full_attention" && one != "sliding_attention")
          c.refuse(c.is("layer_types", one) +
                   ", which is not supported; \"full_attention\" and \"sliding_attention\" are");
        sliding += one == "sliding_attention";
      }
    }
    if (sliding != 0 && sliding != layers)
      c.refuse(
          "a sliding window in some layers only is not supported; set \"use_sliding_window\" to false, or "
          "\"max_window_layers\" to 0");
    return sliding == 0 ? 0 : window;
  }
};

}  // namespace redco
