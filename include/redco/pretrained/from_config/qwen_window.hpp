#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::pretrained {

/// Returns the attention window of a Qwen model in tokens, or 0 without a window. The key
/// `layer_types`, or else `max_window_layers`, selects the layers with a window. Throws `error`
/// with exit code 65 if only some of the layers have a window.
inline std::int64_t read_qwen_window(config_reader& c, std::int64_t layers) {
  bool const used = c.flag("use_sliding_window", false);
  std::int64_t const window = c.extent({"sliding_window"}, 4096), whole = c.integer({"max_window_layers"}, 28, 0);
  std::int64_t sliding = used ? std::max<std::int64_t>(layers - whole, 0) : 0;
  if (json::json_value const* const types = c.find("layer_types"); types != nullptr) {
    sliding = 0;
    for (json::json_value const& one : *types) {
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

}  // namespace redco::pretrained
