#pragma once

#include <redco/pretrained/named_as.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <utility>

namespace redco::pretrained {

REDCO_INLINE std::string name_in_table(std::string_view in_file, models::stored_table const& table) {
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

REDCO_INLINE safetensors::weights_source named_as(safetensors::weights_source weights,
                                                  models::stored_table const& table) {
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
