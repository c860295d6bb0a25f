#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

/// Returns the previous output that each step of outputs [B, T, H] read: zeros for step 0, then the
/// outputs of steps 0 ... T - 2.
inline at::Tensor earlier_outputs(at::Tensor const& outputs) {
  return at::constant_pad_nd(outputs.narrow(1, 0, outputs.size(1) - 1), {0, 0, 1, 0});
}

/// Returns the gradient of W in y = x W^T, summed over all steps.
inline at::Tensor weight_gradient(at::Tensor const& of_y, at::Tensor const& x) {
  return of_y.flatten(0, 1).t().mm(x.flatten(0, 1));
}

}  // namespace redco::kernel::cpu
