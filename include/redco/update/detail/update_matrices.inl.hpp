#pragma once

#include <redco/update/detail/update_matrices.hpp>

#include <redco/update/detail/decay_of.hpp>
#include <redco/update/detail/orthogonal.hpp>
#include <redco/update/detail/update_by.hpp>
#include <redco/update/matrix.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>

namespace redco::update::detail {

/// Returns the factor of the orthogonal update of a matrix `[rows, columns]`.
inline double scale_of(optimizer::muon_scale scale, std::int64_t rows, std::int64_t columns) {
  double const r = static_cast<double>(rows), c = static_cast<double>(columns);
  return scale == optimizer::muon_scale::original ? std::sqrt(std::max(1.0, r / c)) : 0.2 * std::sqrt(std::max(r, c));
}

REDCO_INLINE void update_by(optimizer::muon const& d, segment& s, double lr, std::int64_t step, double grad_scale,
                            rank_context* on) {
  if (s.matrices.empty()) {
    adamw const other{
        .beta1 = d.beta1, .beta2 = d.beta2, .eps = d.eps, .weight_decay = d.weight_decay, .decay_all = d.decay_all};
    return update_by(other, s, d.adam_rate * lr, step, grad_scale);
  }
  double const decay = decay_of(d, s);
  at::NoGradGuard const no_grad;
  for (matrix const& m : s.matrices) {
    at::Tensor const param = m.part(s.param), momentum = m.part(s.slots[0]),
                     grad = m.part(s.grad).to(param.scalar_type()) * grad_scale;
    momentum.lerp_(grad, 1 - d.momentum);
    at::Tensor const whole = m.gathered(d.nesterov ? grad.lerp(momentum, d.momentum) : momentum, on);
    double const rate = lr * scale_of(d.scale, whole.size(0), whole.size(1));
    param.mul_(1 - lr * decay);
    m.held(param).sub_(m.own(orthogonal(whole, d.iterations)), rate);
  }
  if (s.compute.defined()) s.compute.copy_(s.param);
}

}  // namespace redco::update::detail
