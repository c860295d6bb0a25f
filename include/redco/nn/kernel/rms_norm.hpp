#pragma once

#include <redco/nn/kernel/detail/norm_function.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>

namespace redco::kernel {

/// x / sqrt(mean of x^2 + epsilon) * weight over the last dimension; weight [features] may be undefined, and may be in
/// another dtype than x. bf16 is computed in f32. A weight of another size is an error (exit 70). Differentiable at any
/// order. Autograd saves x, weight, and 1 / root mean square (one f32 per row, f64 for f64).
inline at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon) {
  detail::check_norm("rms_norm", x, weight, {});
  return detail::norm_function<false>::apply(x, detail::if_defined(weight), std::nullopt, epsilon);
}

}  // namespace redco::kernel
