#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

/// Result y = (x - mean) rstd of a norm over the last dimension, with its statistics. rstd is 1 /
/// deviation. `mean` and `rstd` have one element per row, in f64 for f64 inputs, else f32.
struct norm_result {
  at::Tensor y, mean, rstd;
};

template <bool Centered>
norm_result norm_hat(at::Tensor const& x, double epsilon) {
  at::Tensor const wide = widened(x), mean = Centered ? wide.mean(-1, true) : at::Tensor();
  at::Tensor const centered = Centered ? wide - mean : wide;
  at::Tensor const rstd = (centered * centered).mean(-1, true).add(epsilon).rsqrt();
  return {centered * rstd, mean, rstd};
}

/// Computes layer norm (if Centered) or rms norm with ATen operators, as the reference. `weight`
/// and `bias` may be undefined.
template <bool Centered>
norm_result norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon) {
  auto result = norm_hat<Centered>(x, epsilon);
  if (weight.defined()) result.y = result.y * weight;
  if (bias.defined()) result.y = result.y + bias;
  result.y = result.y.to(x.scalar_type());
  result.rstd = result.rstd.squeeze(-1);
  if (Centered) result.mean = result.mean.squeeze(-1);
  return result;
}

}  // namespace redco::kernel::composed
