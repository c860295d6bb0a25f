#pragma once

#include <redco/nn/detail/check_targets.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string_view>

namespace redco::detail {

REDCO_INLINE void check_targets(lora_options const& options, std::span<std::string const> adapted) {
  options.for_each_target([&](std::string_view target) {
    if (std::ranges::none_of(adapted, [&](std::string const& path) { return lora_options::names(target, path); }))
      throw error(exit_code::usage, "no weight '" + std::string(target) +
                                        "' takes an adapter; name linears, q, k, v, qkv and o of an attention, or gate "
                                        "and up, as the plan has them");
  });
  if (options.targets.view().empty())
    throw error(exit_code::usage, "a model with adapters adapts nothing: name its targets, such as q,v");
}

}  // namespace redco::detail
