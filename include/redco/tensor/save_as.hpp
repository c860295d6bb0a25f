#pragma once

#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/torch.hpp>

#include <string_view>

namespace redco {

/// Returns `x` and declares that autograd saves it for backward as the slot named `slot` in the
/// layer's facts. `slot` must be a string literal. Kernels name the tensors that they create for
/// backward; the layer that creates a kernel's input names the input.
inline at::Tensor const& save_as(std::string_view slot, at::Tensor const& x) {
  saved_watch::name(slot, x);
  return x;
}

}  // namespace redco
