#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// max(x, 0), element by element. ATen's operator and its backward already run at the speed of memory and are
/// differentiable at any order. Autograd saves the result.
inline at::Tensor relu(at::Tensor const& x) { return at::relu(x); }

}  // namespace redco::kernel
