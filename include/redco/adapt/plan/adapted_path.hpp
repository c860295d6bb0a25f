#pragma once

#include <string_view>

namespace redco::adapt {

/// Returns the path of the weight to which an adapter's parameter `ours` belongs:
/// "layers.0.self_attn.q" for "layers.0.self_attn.q.lora_B.weight". Empty for other parameters.
constexpr std::string_view adapted_path(std::string_view ours) {
  for (std::string_view const end : {std::string_view(".lora_A.weight"), std::string_view(".lora_B.weight")})
    if (ours.ends_with(end)) return ours.substr(0, ours.size() - end.size());
  return {};
}

}  // namespace redco::adapt
