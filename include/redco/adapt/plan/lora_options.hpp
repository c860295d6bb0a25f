#pragma once

#include <redco/shape/short_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco {

/// Options of low-rank adapters (LoRA, Hu et al. 2022): y = x W^T + alpha / rank * (x A^T) B^T,
/// with A [rank, In] and B [Out, rank].
struct lora_options {
  std::int64_t rank = 8;
  double alpha = 16;
  /// Probability of dropping an element of the input x of A in training.
  double dropout = 0;
  /// Weights to adapt: comma-separated ends of their paths, such as "q,v" or
  /// "self_attn.q,mlp.down". The target "qkv" gives the queries, keys and values of an attention
  /// one common A, as PEFT does for GPT-2's fused weight.
  shape::short_text targets = "q,v";

  /// Calls `f(target)` for each entry of the comma-separated list `targets`.
  template <class F>
  constexpr void for_each_target(F const& f) const {
    for (std::string_view rest = targets.view(); !rest.empty();) {
      std::size_t const end = std::min(rest.find(','), rest.size());
      f(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  /// Returns true if an entry of `targets` names the weight at `path`, such as
  /// "layers.*.self_attn.q".
  constexpr bool adapts(std::string_view path) const {
    bool any = false;
    for_each_target([&](std::string_view target) { any = any || names(target, path); });
    return any;
  }

  /// Returns true if `target` equals `path` or is a suffix of it in whole components: "q" names
  /// "self_attn.q".
  static constexpr bool names(std::string_view target, std::string_view path) {
    if (target.empty() || !path.ends_with(target)) return false;
    return path.size() == target.size() || path[path.size() - target.size() - 1] == '.';
  }

  friend constexpr bool operator==(lora_options const&, lora_options const&) = default;
};

}  // namespace redco

namespace redco::adapt {

/// Entries of PEFT's adapter_config.json that redco cannot derive from the adapters.
struct save_adapter_options {
  /// Name or folder of the frozen model (PEFT's base_model_name_or_path); empty for none.
  std::string base = {};
  std::string task = "CAUSAL_LM";  ///< PEFT's task_type
};

}  // namespace redco::adapt
