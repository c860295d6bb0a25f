#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/safetensors/names.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Returns the tensors, by their names in a model's table, that the tensor `in_file` of a weights
/// file joins (see models::stacked_name). Empty if it joins none.
inline safetensors::tensor_table unstacked(std::string const& in_file, safetensors::stored_tensor const& tensor,
                                           models::stored_table const& table) {
  safetensors::tensor_table found;
  for (models::stored_name const& row : table.names) {
    if (row.stacked.theirs.empty()) continue;
    models::stored_name const stacked{.ours = row.stacked.theirs, .theirs = row.theirs};
    models::stored_match match = models::find_stored_name(std::span(&stacked, 1), in_file);
    if (match.row == nullptr)
      match = models::find_stored_name(std::span(&stacked, 1), std::string(table.base) + in_file);
    if (match.row == nullptr || tensor.parts.size() != 1) continue;
    safetensors::tensor_part const& file = tensor.parts.front();
    std::size_t const star = match.theirs.find('*');
    if (star == std::string::npos) {
      found[match.theirs] = {tensor.type, tensor.shape, {{file.file, file.offset, file.shape, in_file}}};
      continue;
    }
    std::int64_t const parts = row.stacked.parts;
    if (tensor.shape.size() < 2 || tensor.shape[1] % parts != 0) continue;
    std::vector<std::int64_t> one(tensor.shape.begin() + 1, tensor.shape.end()), begin(tensor.shape.size(), 0);
    one[0] /= parts;
    begin[1] = row.stacked.part * one[0];
    for (; begin[0] < tensor.shape[0]; ++begin[0])
      found[std::string(match.theirs).replace(star, 1, std::to_string(begin[0]))] = {
          tensor.type, one, {{file.file, std::vector<std::int64_t>(one.size(), 0), one, in_file, tensor.shape, begin}}};
  }
  return found;
}

/// Returns `weights` with its tensors renamed to the names in a model's table of tensor names. A
/// tensor that joins several of the table is replaced by them. Throws `error` with exit code 65 if
/// two tensors get an equal name.
inline safetensors::weights_source named_as(safetensors::weights_source weights, models::stored_table const& table) {
  safetensors::tensor_table renamed;
  auto const add = [&](std::string const& wanted, std::string const& name, safetensors::stored_tensor tensor) {
    if (!renamed.try_emplace(wanted, std::move(tensor)).second)
      throw error(exit_code::data, weights.files->directory().string() + " has the tensor " +
                                       safetensors::shown(wanted) + " under two names, the second " +
                                       safetensors::shown(name) + "; fetch the weights again");
  };
  for (auto& [name, tensor] : weights.tensors) {
    safetensors::tensor_table joined = unstacked(name, tensor, table);
    for (auto& [wanted, part] : joined) add(wanted, name, std::move(part));
    if (!joined.empty()) continue;
    std::string const wanted = name_in_table(name, table);
    if (wanted != name)
      for (safetensors::tensor_part& part : tensor.parts) part.name = name;
    add(wanted, name, std::move(tensor));
  }
  weights.tensors = std::move(renamed);
  return weights;
}

}  // namespace redco::pretrained
