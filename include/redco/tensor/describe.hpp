#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>

namespace redco {

/// "[3, 5]": how messages write a shape.
inline std::string describe(at::IntArrayRef sizes) {
  std::string text;
  for (std::int64_t const extent : sizes) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return text.empty() ? "[]" : text + "]";
}

/// "Float [3, 5]": how messages write a tensor.
inline std::string describe(at::Tensor const& x) {
  return std::string(c10::toString(x.scalar_type())) + " " + describe(x.sizes());
}

}  // namespace redco
