#pragma once

#include <redco/update/detail/update_elements.hpp>

#include <redco/update/detail/decay_of.hpp>
#include <redco/update/detail/element_kernel.hpp>
#include <redco/update/detail/element_rules.hpp>
#include <redco/update/detail/run_kernel.hpp>
#include <redco/update/detail/update_by.hpp>
#include <redco/update/matrix.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace redco::update::detail {

/// Updates a segment by a rule that treats each element alone. `exact` has the rule's constants in
/// f64.
template <template <class> class Rule>
void update_elements(segment& s, Rule<double> const& exact) {
  run_kernel(s, [&]<class T, class Grad>(T* param, Grad const* grad, c10::BFloat16* copy) {
    element_arrays<T, Grad, Rule<T>::slots> arrays{param, grad, {}, copy};
    for (std::size_t i = 0; i < Rule<T>::slots; ++i) arrays.slots[i] = s.slots[i].mutable_data_ptr<T>();
    Rule<T> const rule = exact.template rounded<T>();
    tensors::parallel(s.param.numel(), update_grain, [&](std::int64_t begin, std::int64_t end) {
      element_kernel(arrays, begin, end, rule, has_avx2());
    });
  });
}

REDCO_INLINE void update_by(optimizer::lion const& d, segment& s, double lr, std::int64_t, double grad_scale) {
  lion_rule<double> const exact{grad_scale, 1 - lr * decay_of(d, s), d.beta1, 1 - d.beta1, d.beta2, 1 - d.beta2, -lr};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_lion(s, exact);
  update_elements(s, exact);
}

REDCO_INLINE void update_by(optimizer::ademamix const& d, segment& s, double lr, std::int64_t step, double grad_scale) {
  double const t = static_cast<double>(step), beta3 = d.beta3_at(step);
  ademamix_rule<double> const exact{grad_scale,
                                    decay_of(d, s),
                                    d.beta1,
                                    1 - d.beta1,
                                    beta3,
                                    1 - beta3,
                                    d.beta2,
                                    1 - d.beta2,
                                    1 / (1 - std::pow(d.beta1, t)),
                                    d.alpha_at(step),
                                    1 / std::sqrt(1 - std::pow(d.beta2, t)),
                                    d.eps,
                                    -lr};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_ademamix(s, exact);
  update_elements(s, exact);
}

REDCO_INLINE void update_by(optimizer::schedule_free const& d, segment& s, double lr, std::int64_t step,
                            double grad_scale) {
  double const pull = d.weight_at(step);
  schedule_free_rule<double> const exact{grad_scale,
                                         decay_of(d, s),
                                         d.beta2,
                                         1 - d.beta2,
                                         1 / std::sqrt(1 - std::pow(d.beta2, static_cast<double>(step))),
                                         d.eps,
                                         pull,
                                         lr * (d.beta1 * (1 - pull) - 1),
                                         -lr,
                                         step == 1};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_schedule_free(s, exact);
  update_elements(s, exact);
}

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
