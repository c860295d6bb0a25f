#pragma once

#include <redco/update/detail/composed.hpp>
#include <redco/update/detail/element_rules.hpp>
#include <redco/update/segment.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::update::detail {

// The updates of element_rules.hpp with ATen operators, on any device.

inline void composed_lion(segment& s, lion_rule<double> const& c) {
  at::NoGradGuard const no_grad;
  at::Tensor const g = composed_gradient(s, c.scale, 0), mean = s.slots[0];
  at::Tensor const direction = (mean * c.beta1).add_(g, c.grad_part1).sign_();
  mean.mul_(c.beta2).add_(g, c.grad_part2);
  s.param.mul_(c.keep).add_(direction, c.minus_rate);
  if (s.compute.defined()) s.compute.copy_(s.param);
}

inline void composed_ademamix(segment& s, ademamix_rule<double> const& c) {
  at::NoGradGuard const no_grad;
  at::Tensor const g = composed_gradient(s, c.scale, 0), fast = s.slots[0], slow = s.slots[1], square = s.slots[2];
  fast.mul_(c.beta1).add_(g, c.fast_part);
  slow.mul_(c.beta3).add_(g, c.slow_part);
  square.mul_(c.beta2).addcmul_(g, g, c.square_part);
  at::Tensor const root = square.sqrt().mul_(c.root_factor).add_(c.eps);
  at::Tensor const direction = (fast * c.fast_factor).add_(slow, c.alpha).div_(root);
  s.param.add_(direction.add_(s.param, c.penalty), c.minus_rate);
  if (s.compute.defined()) s.compute.copy_(s.param);
}

inline void composed_schedule_free(segment& s, schedule_free_rule<double> const& c) {
  at::NoGradGuard const no_grad;
  at::Tensor const g = composed_gradient(s, c.scale, 0), z = s.slots[0], square = s.slots[1];
  if (c.first) z.copy_(s.param);
  square.mul_(c.beta2).addcmul_(g, g, c.square_part);
  at::Tensor const direction = g.div(square.sqrt().mul_(c.root_factor).add_(c.eps)).add_(s.param, c.penalty);
  s.param.lerp_(z, c.pull).add_(direction, c.step);
  z.add_(direction, c.minus_rate);
  if (s.compute.defined()) s.compute.copy_(s.param);
}

}  // namespace redco::update::detail
