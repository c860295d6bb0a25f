#pragma once

#include <redco/update/detail/update_elements.hpp>

#include <redco/update/detail/composed_elements.hpp>
#include <redco/update/detail/decay_of.hpp>
#include <redco/update/detail/element_kernel.hpp>
#include <redco/update/detail/element_rules.hpp>
#include <redco/update/detail/run_kernel.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

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

}  // namespace redco::update::detail
