#pragma once

#include <redco/update/detail/adam_kernel.hpp>
#include <redco/update/detail/sgd_kernel.hpp>
#include <redco/update/segment.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::update::detail {

// The updates and the norm with ATen operators, on any device: the reference for the kernels in
// this folder.

/// Returns the gradient that an update of segment `s` uses: the stored gradient times `scale`, plus
/// `penalty` (L2 weight decay) times the parameter. Computed by ATen operators.
inline at::Tensor composed_gradient(segment const& s, double scale, double penalty) {
  return s.grad.to(s.param.scalar_type()) * scale + s.param * penalty;
}

inline void composed_adam(segment& s, adam_numbers<double> const& c) {
  at::NoGradGuard const no_grad;
  at::Tensor const g = composed_gradient(s, c.scale, c.penalty), mean = s.slots[0], square = s.slots[1];
  mean.lerp_(g, c.mean_part);
  square.mul_(c.beta2).addcmul_(g, g, c.square_part);
  if (s.slots.size() > 2) s.slots[2].copy_(at::maximum(s.slots[2], square));
  at::Tensor const root = s.slots.back().sqrt().mul_(c.root_factor).add_(c.eps);
  s.param.mul_(c.keep).addcdiv_(mean, root, c.minus_rate);
  if (s.compute.defined()) s.compute.copy_(s.param);
}

inline void composed_sgd(segment& s, sgd_numbers<double> const& c) {
  at::NoGradGuard const no_grad;
  at::Tensor const g = composed_gradient(s, c.scale, c.penalty);
  at::Tensor direction = g;
  if (!s.slots.empty()) {
    direction = s.slots[0].mul_(c.keep).add_(g, c.grad_part);
    if (c.nesterov) direction = g + direction * c.ahead;
  }
  s.param.add_(direction, c.minus_rate);
  if (s.compute.defined()) s.compute.copy_(s.param);
}

/// Returns the sum of squares of `flat` as an f64 scalar tensor on the device of `flat`. Converts
/// only `at_once` elements to f64 at a time, because the buffer may be large.
inline at::Tensor composed_sum_of_squares(at::Tensor const& flat, std::int64_t at_once = std::int64_t{1} << 24) {
  at::Tensor sum = at::zeros({}, flat.options().dtype(at::kDouble));
  for (std::int64_t begin = 0; begin < flat.numel(); begin += at_once)
    sum += flat.slice(0, begin, begin + at_once).to(at::kDouble).square().sum();
  return sum;
}

}  // namespace redco::update::detail
