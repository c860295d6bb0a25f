#pragma once

#include <redco/adapt/plan/target_words.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>

namespace redco::adapt::detail {

REDCO_INLINE std::string shortest_target(std::string_view path, std::set<std::string> const& adapted,
                                         std::set<std::string> const& all) {
  for (std::size_t dot = path.rfind('.'); dot != std::string_view::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    std::string_view const end = path.substr(dot + 1);
    bool const exact = std::ranges::none_of(
        all, [&](std::string const& other) { return lora_options::names(end, other) && !adapted.contains(other); });
    if (exact) return std::string(end);
  }
  return std::string(path);
}

/// A weight that can have adapters, as files and PEFT know it.
struct file_weight {
  /// Path of the weight. It ends in "qkv" if files join queries, keys and values.
  std::string path;
  std::string module;  ///< PEFT's name of the module, with `*` for numbers
  /// True if files join the weight and weights other than queries, keys and values.
  bool is_joined;
};

/// Returns the path of the first block or expert for a path of several, "layers.*.mlp.up" or
/// "h.1::2.attn.q".
inline std::string first_of(std::string_view path) {
  std::string first;
  while (!path.empty()) {
    std::size_t const end = std::min(path.find('.'), path.size());
    std::string_view const component = path.substr(0, end);
    bool const is_many = component == "*" || component.find("::") != std::string_view::npos;
    first += (first.empty() ? "" : ".") + std::string(is_many ? "0" : component);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return first;
}

inline file_weight file_weight_of(std::string const& path, std::span<models::stored_name const> names) {
  std::string const first = first_of(path);
  models::stored_name const* row = models::find_stored_name(names, first + ".weight").row;
  if (row == nullptr) row = models::find_stored_name(names, first + ".0").row;  // an expert
  if (row == nullptr) return {path, path, false};
  std::string_view theirs = row->theirs.empty() ? row->ours : row->theirs;
  if (theirs.ends_with(".weight")) theirs.remove_suffix(7);
  bool const is_qkv = path.ends_with(".q") || path.ends_with(".k") || path.ends_with(".v");
  if (row->parts > 1 && is_qkv) return {path.substr(0, path.size() - 1) + "qkv", std::string(theirs), false};
  return {path, std::string(theirs), row->parts > 1};
}

}  // namespace redco::adapt::detail

namespace redco::adapt {

REDCO_INLINE std::string targets_of(std::string_view words, std::span<std::string const> adaptable,
                                    std::span<models::stored_name const> names) {
  std::vector<detail::file_weight> weights;
  std::set<std::string> all, chosen;
  for (std::string const& path : adaptable) {
    all.insert(weights.emplace_back(detail::file_weight_of(path, names)).path);
    all.insert(path);
  }
  std::string list;
  auto const add = [&](std::string_view target) { list += (list.empty() ? "" : ",") + std::string(target); };
  for (std::string_view rest = words; !rest.empty();) {
    std::size_t const end = std::min(rest.find(','), rest.size());
    std::string_view const word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    bool const is_ours =
        word == "qkv" || word.ends_with(".qkv") ||
        std::ranges::any_of(adaptable, [&](auto const& path) { return lora_options::names(word, path); });
    if (is_ours) {
      add(word);
      continue;
    }
    bool found = false;
    for (detail::file_weight const& one : weights) {
      if (word == "all-linear" ? one.path == "lm_head" || one.path == "embed_out"
                               : !lora_options::names(word, one.module))
        continue;
      if (one.is_joined)
        throw error(exit_code::usage, "the target '" + std::string(word) + "' adapts " + one.module +
                                          ", in which files join two weights of the model, which is not computed "
                                          "here; name other targets");
      chosen.insert(one.path);
      found = true;
    }
    if (found) continue;
    std::string known;
    for (detail::file_weight const& one : weights) {
      std::string const name = one.module.substr(one.module.rfind('.') + 1);
      if (!one.is_joined && known.find(name) == std::string::npos) known += name + ", ";
    }
    throw error(exit_code::usage,
                "no weight '" + std::string(word) + "' takes an adapter; name " + known + "or all-linear");
  }
  std::set<std::string> targets;
  for (std::string const& path : chosen) targets.insert(detail::shortest_target(path, chosen, all));
  for (std::string const& target : targets) add(target);
  return list;
}

}  // namespace redco::adapt
