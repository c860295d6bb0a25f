#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

/// Shifts the outputs [B, T, H] of a recurrent layer by one step. The result has zeros at step 0,
/// and then the outputs of steps 0 to T - 2: the previous output that each step used.
inline at::Tensor earlier_outputs(at::Tensor const& outputs) {
  return at::constant_pad_nd(outputs.narrow(1, 0, outputs.size(1) - 1), {0, 0, 1, 0});
}

/// Returns the gradient of the weight W in y = x W^T, summed over examples and steps. `of_y` is the
/// gradient of y.
inline at::Tensor weight_gradient(at::Tensor const& of_y, at::Tensor const& x) {
  return of_y.flatten(0, 1).t().mm(x.flatten(0, 1));
}

}  // namespace redco::kernel::cpu
