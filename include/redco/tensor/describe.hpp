#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>

namespace redco {

/// "Float [3, 5]": how messages write a tensor.
inline std::string describe(at::Tensor const& x) {
  std::string text = c10::toString(x.scalar_type());
  text += " [";
  for (std::int64_t dim = 0; dim < x.dim(); ++dim) text += (dim ? ", " : "") + std::to_string(x.size(dim));
  return text + "]";
}

}  // namespace redco
