#pragma once

#include <redco/shape/short_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco {

/// Low-rank adapters (LoRA, Hu et al. 2022) beside the weights of a model: y = x W^T + alpha / rank
/// * (x A^T) B^T, with A [rank, In] and B [Out, rank].
struct lora_options {
  std::int64_t rank = 8;
  double alpha = 16;
  double dropout = 0;  ///< on what A reads
  /// Names of what is adapted, with commas between them: the ends of the paths of weights, "q,v" or
  /// "self_attn.q,mlp.down"; "qkv" has one A for the queries, keys and values of an attention, as
  /// the fused weight of GPT-2 has with PEFT.
  short_text targets = "q,v";

  /// Calls `f(target)` for each of them.
  template <class F>
  constexpr void for_each_target(F const& f) const {
    for (std::string_view rest = targets.view(); !rest.empty();) {
      std::size_t const end = std::min(rest.find(','), rest.size());
      f(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  /// Whether the weight under `path` ("layers.*.self_attn.q") is adapted.
  constexpr bool adapts(std::string_view path) const {
    bool any = false;
    for_each_target([&](std::string_view target) { any = any || names(target, path); });
    return any;
  }

  /// Whether `target` is the path or its end, in whole components.
  static constexpr bool names(std::string_view target, std::string_view path) {
    if (target.empty() || !path.ends_with(target)) return false;
    return path.size() == target.size() || path[path.size() - target.size() - 1] == '.';
  }

  friend constexpr bool operator==(lora_options const&, lora_options const&) = default;
};

}  // namespace redco
