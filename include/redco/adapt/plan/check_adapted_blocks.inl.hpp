#pragma once

#include <redco/adapt/plan/check_adapted_blocks.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

namespace redco::adapt::detail {

/// Replaces each numeric component of a tensor's name by `*`, so that a tensor has one name in all
/// blocks.
inline std::string in_every_block(std::string_view name) {
  std::string pattern;
  while (!name.empty()) {
    std::size_t const end = std::min(name.find('.'), name.size());
    std::string_view const component = name.substr(0, end);
    bool const is_number = component.find_first_not_of("0123456789") == std::string_view::npos;
    pattern += (pattern.empty() ? "" : ".") + std::string(is_number ? "*" : component);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return pattern;
}

}  // namespace redco::adapt::detail

namespace redco::adapt {

REDCO_INLINE void check_adapted_blocks(std::string const& source, safetensors::tensor_table const& stored,
                                       std::span<std::string const> wanted) {
  std::map<std::string, std::string> present;  // one example name of the file for each pattern
  for (auto const& [name, tensor] : stored) present.try_emplace(detail::in_every_block(name), name);
  for (std::string const& name : wanted) {
    auto const other = present.find(detail::in_every_block(name));
    if (stored.contains(name) || other == present.end()) continue;
    throw error(exit_code::data,
                source + " adapts some blocks only (layers_to_transform or a pattern in target_modules): it has " +
                    safetensors::shown(other->second) + " and not " + safetensors::shown(name) +
                    "; adapt a module in every block, or merge the adapter into its model with PEFT "
                    "(merge_and_unload) and give that folder");
  }
}

}  // namespace redco::adapt
