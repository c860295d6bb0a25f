#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <cstdint>
#include <string>

namespace redco::workdir::detail {

/// Largest accepted number of parts of a tensor. No mesh makes as many, and the check that compares
/// each part with each other part is still fast.
inline constexpr std::size_t most_parts = 4096;

/// Returns the reason why a tensor's parts do not cover each of its elements exactly once, or an
/// empty text if they do. Requires that the tensor's number of bytes fits into 63 bits.
inline std::string why_not_whole(safetensors::stored_tensor const& tensor) {
  if (tensor.parts.size() > most_parts) return "has more than " + std::to_string(most_parts) + " parts";
  std::int64_t covered = 0;
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    safetensors::box const part{tensor.parts[i].offset, tensor.parts[i].shape};
    if (!safetensors::inside(part, tensor.shape)) return "reaches outside the tensor with part " + std::to_string(i);
    for (std::size_t j = 0; j < i; ++j) {
      if (safetensors::intersect(part, {tensor.parts[j].offset, tensor.parts[j].shape}))
        return "has parts " + std::to_string(j) + " and " + std::to_string(i) + " that overlap";
    }
    covered += safetensors::count_of(part.shape);
  }
  if (covered != safetensors::count_of(tensor.shape))
    return "leaves " + std::to_string(safetensors::count_of(tensor.shape) - covered) + " elements without a part";
  return "";
}

}  // namespace redco::workdir::detail
