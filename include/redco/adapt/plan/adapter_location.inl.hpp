#pragma once

#include <redco/adapt/plan/adapter_location.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

namespace redco::adapt {

REDCO_INLINE std::int64_t group_of(std::span<models::stored_name const> names, std::string const& ours) {
  if (!ours.ends_with(".lora_B.weight")) return 0;
  models::stored_name const* const row =
      models::find_stored_name(names, std::string(adapted_path(ours)) + ".weight").row;
  return row != nullptr ? row->group : 0;
}

REDCO_INLINE adapter_location adapter_location_of(std::span<models::stored_name const> names, std::string const& ours,
                                                  std::vector<std::int64_t> const& shape, safetensors::box const& box) {
  constexpr std::string_view weight = ".weight", prefix = "base_model.model.";
  std::string path(adapted_path(ours));
  std::string const end = ours.substr(path.size());
  bool const as_one = path.ends_with(".qkv"), is_b = end == ".lora_B.weight";
  models::stored_match in_file =
      models::find_stored_name(names, (as_one ? path.substr(0, path.size() - 2) : path) + std::string(weight));
  if (in_file.row == nullptr) in_file = models::find_stored_name(names, path);  // an expert
  if (in_file.row == nullptr)
    throw error(exit_code::internal, "the model's table of file names has no row for the weight that the adapter " +
                                         safetensors::shown(ours) + " is added to; add one");
  models::stored_name const& row = *in_file.row;
  if (!is_b && as_one && row.parts == 1)
    throw error(exit_code::usage,
                "the files of this model keep q, k and v apart, and so does PEFT: name the targets "
                "q, k and v instead of " +
                    path);
  bool const is_qkv = path.ends_with(".q") || path.ends_with(".k") || path.ends_with(".v");
  if (!as_one && row.parts > 1 && !is_qkv)
    throw error(exit_code::usage, "the files of this model keep " + path +
                                      " and another weight as one tensor, which PEFT adapts as one: leave it out of "
                                      "the targets");
  if (!is_b && !as_one && row.parts > 1)
    throw error(exit_code::usage,
                "the files of this model keep q, k and v as one tensor, which PEFT adapts as one: "
                "name the target qkv instead of " +
                    path);
  std::string_view const theirs = in_file.theirs, pattern = row.theirs.empty() ? theirs : row.theirs;
  std::size_t const star = pattern.rfind('*'), in_block = star == std::string_view::npos ? 0 : star + 2;
  auto const without_weight = [&](std::string_view name) {
    return std::string(name.substr(0, name.size() - weight.size()));
  };
  adapter_location found{{std::string(prefix) + without_weight(theirs) + end, shape, box},
                         without_weight(pattern.substr(in_block)),
                         row.transposed};
  if (is_b && row.parts > 1) pretrained::join_rows(row, shape[0], found.part);
  return found;
}

}  // namespace redco::adapt

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
