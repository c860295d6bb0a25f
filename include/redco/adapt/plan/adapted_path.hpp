#pragma once

#include <string_view>

namespace redco {

/// The path of the weight beside which our parameter of this name is half of an adapter:
/// "layers.0.self_attn.q" for "layers.0.self_attn.q.lora_B.weight"; empty for another parameter.
constexpr std::string_view adapted_path(std::string_view ours) {
  for (std::string_view const end : {std::string_view(".lora_A.weight"), std::string_view(".lora_B.weight")})
    if (ours.ends_with(end)) return ours.substr(0, ours.size() - end.size());
  return {};
}

}  // namespace redco
