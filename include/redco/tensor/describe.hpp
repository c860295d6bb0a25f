#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>

namespace redco::tensors {

/// Returns a shape as text for messages, such as "[3, 5]".
inline std::string describe(at::IntArrayRef sizes) {
  std::string text;
  for (std::int64_t const extent : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return text.empty() ? "[]" : text + "]";
}

/// Returns the dtype and shape of a tensor as text for messages, such as "Float [3, 5]".
inline std::string describe(at::Tensor const& x) {
  return std::string(c10::toString(x.scalar_type())) + " " + describe(x.sizes());
}

}  // namespace redco::tensors
