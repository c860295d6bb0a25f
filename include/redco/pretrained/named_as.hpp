#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace redco::pretrained {

/// Returns the name in a model's table of tensor names for the tensor `in_file` of a weights file.
/// Adds the prefix that files of the base model alone omit, and replaces gamma and beta of old
/// files by weight and bias. Returns a name without a match in the table unchanged.
inline std::string name_in_table(std::string_view in_file, models::stored_table const& table) {
  auto const known = [&](std::string const& name) {
    return std::any_of(table.names.begin(), table.names.end(),
                       [&](models::stored_name const& row) { return meta::glob(row.theirs, name); }) ||
           std::any_of(table.unread.begin(), table.unread.end(),
                       [&](std::string_view pattern) { return meta::glob(pattern, name); });
  };
  std::string name(in_file);
  for (auto const& [old, now] :
       {std::pair{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}})
    if (std::string_view const end = old; name.ends_with(end)) name.replace(name.size() - end.size(), end.size(), now);
  if (known(name)) return name;
  std::string const with_base = std::string(table.base) + name;
  return known(with_base) ? with_base : std::string(in_file);
}

/// Returns `weights` with its tensors renamed to the names in a model's table of tensor names.
/// Throws `error` with exit code 65 if two tensors get an equal name.
inline safetensors::weights_source named_as(safetensors::weights_source weights, models::stored_table const& table) {
  safetensors::tensor_table renamed;
  for (auto& [name, tensor] : weights.tensors) {
    std::string wanted = name_in_table(name, table);
    if (wanted != name)
      for (safetensors::tensor_part& part : tensor.parts) part.name = name;
    if (!renamed.try_emplace(wanted, std::move(tensor)).second)
      throw error(exit_code::data, weights.files->directory().string() + " has the tensor " +
                                       safetensors::shown(wanted) + " under two names, the second " +
                                       safetensors::shown(name) + "; fetch the weights again");
  }
  weights.tensors = std::move(renamed);
  return weights;
}

}  // namespace redco::pretrained
