#pragma once

#include <redco/update/detail/composed.hpp>
#include <redco/update/segment.hpp>
#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstddef>

namespace redco::update::detail {

// Rules that update each element alone: their constants, computed in f64 and rounded once to T, and
// the update of one element. Each product that is added to a sum is an explicit fused multiply-add,
// so that the results are equal on every CPU.

/// The rule of Lion; its slot is the momentum.
template <class T>
struct lion_rule {
  static constexpr std::size_t slots = 1;
  T scale;       // factor of the gradient
  T keep;        // factor of the parameter
  T beta1;       // factor of the momentum in the direction
  T grad_part1;  // 1 - beta1
  T beta2;
  T grad_part2;  // 1 - beta2
  T minus_rate;  // -lr

  template <class U>
  lion_rule<U> rounded() const {
    return {U(scale), U(keep), U(beta1), U(grad_part1), U(beta2), U(grad_part2), U(minus_rate)};
  }

  [[gnu::always_inline]] T operator()(T p, T grad, T* slot) const {
    T const g = grad * scale, direction = std::fma(beta1, slot[0], grad_part1 * g);
    slot[0] = std::fma(beta2, slot[0], grad_part2 * g);
    return std::fma(minus_rate, static_cast<T>((direction > 0) - (direction < 0)), keep * p);
  }
};

/// The rule of AdEMAMix; its slots are the fast and slow averages and the square.
template <class T>
struct ademamix_rule {
  static constexpr std::size_t slots = 3;
  T scale;    // factor of the gradient
  T penalty;  // weight decay
  T beta1;
  T fast_part;  // 1 - beta1
  T beta3;
  T slow_part;  // 1 - beta3
  T beta2;
  T square_part;  // 1 - beta2
  T fast_factor;  // 1 / (1 - beta1^t)
  T alpha;
  T root_factor;  // 1 / sqrt(1 - beta2^t)
  T eps;
  T minus_rate;  // -lr

  template <class U>
  ademamix_rule<U> rounded() const {
    return {U(scale),       U(penalty),     U(beta1), U(fast_part),   U(beta3), U(slow_part), U(beta2),
            U(square_part), U(fast_factor), U(alpha), U(root_factor), U(eps),   U(minus_rate)};
  }

  [[gnu::always_inline]] T operator()(T p, T grad, T* slot) const {
    T const g = grad * scale;
    slot[0] = std::fma(beta1, slot[0], fast_part * g);
    slot[1] = std::fma(beta3, slot[1], slow_part * g);
    slot[2] = std::fma(square_part * g, g, beta2 * slot[2]);
    T const root = std::fma(std::sqrt(slot[2]), root_factor, eps);
    T const direction = std::fma(alpha, slot[1], fast_factor * slot[0]) / root;
    return std::fma(minus_rate, std::fma(penalty, p, direction), p);
  }
};

/// The rule of schedule-free AdamW; its slots are z and the square.
template <class T>
struct schedule_free_rule {
  static constexpr std::size_t slots = 2;
  T scale;    // factor of the gradient
  T penalty;  // weight decay
  T beta2;
  T square_part;  // 1 - beta2
  T root_factor;  // 1 / sqrt(1 - beta2^t)
  T eps;
  T pull;        // c, the part of z in the average
  T step;        // lr (beta1 (1 - c) - 1)
  T minus_rate;  // -lr
  bool first;    // z starts as the parameter

  template <class U>
  schedule_free_rule<U> rounded() const {
    return {U(scale), U(penalty), U(beta2), U(square_part), U(root_factor),
            U(eps),   U(pull),    U(step),  U(minus_rate),  first};
  }

  [[gnu::always_inline]] T operator()(T y, T grad, T* slot) const {
    T const g = grad * scale, z = first ? y : slot[0];
    slot[1] = std::fma(square_part * g, g, beta2 * slot[1]);
    T const direction = std::fma(penalty, y, g / std::fma(std::sqrt(slot[1]), root_factor, eps));
    slot[0] = std::fma(minus_rate, direction, z);
    return std::fma(step, direction, std::fma(pull, z - y, y));
  }
};

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
