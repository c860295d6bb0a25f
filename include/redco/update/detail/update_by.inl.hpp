#pragma once

#include <redco/update/detail/update_by.hpp>

#include <redco/update/detail/adam_kernel.hpp>
#include <redco/update/detail/composed.hpp>
#include <redco/update/detail/cuda.hpp>
#include <redco/update/detail/run_kernel.hpp>
#include <redco/update/detail/sgd_kernel.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstddef>
#include <string>

namespace redco::update::detail {

[[noreturn]] inline void refuse_segment(std::string const& why) {
  throw error(exit_code::internal, "an optimizer segment " + why + "; see redco/update/segment.hpp");
}

REDCO_INLINE void check_segment(segment const& s, optimizer::slot_list const& slots) {
  auto const flat = [&](at::Tensor const& t, char const* name) {
    if (!t.defined() || t.dim() != 1 || !t.is_contiguous() || t.device() != s.param.device() ||
        t.numel() != s.param.numel())
      refuse_segment(std::string("has a ") + name +
                     " that is not a flat buffer as long as its parameters, on their device");
  };
  flat(s.param, "param");
  flat(s.grad, "grad");
  if (s.param.scalar_type() != at::kFloat && s.param.scalar_type() != at::kDouble)
    refuse_segment(std::string("has masters of ") + c10::toString(s.param.scalar_type()) + ", not f32 or f64");
  if (s.slots.size() != static_cast<std::size_t>(slots.size()))
    refuse_segment("has " + std::to_string(s.slots.size()) + " slots where the optimizer keeps " +
                   std::to_string(slots.size()));
  for (int i = 0; i < slots.size(); ++i) {
    at::Tensor const& slot = s.slots[static_cast<std::size_t>(i)];
    if (slots.form(i) == optimizer::slot_form::whole) flat(slot, "slot");
    if (slot.scalar_type() != s.param.scalar_type()) refuse_segment("has a slot of another dtype than its parameters");
  }
  if (s.compute.defined()) flat(s.compute, "compute copy");
}

/// Weight decay of an Adam update in two forms: the parameter is multiplied by `keep` (AdamW), or
/// `penalty` times the parameter is added to the gradient (Adam with L2).
struct adam_decay {
  double keep = 1;
  double penalty = 0;
};

template <class Description>
void update_adam(Description const& d, adam_decay decay, segment& s, double lr, std::int64_t step, double grad_scale) {
  double const t = static_cast<double>(step);
  double const rate = lr / (1 - std::pow(d.beta1, t));
  double const root_factor = 1 / std::sqrt(1 - std::pow(d.beta2, t));
  adam_numbers<double> const exact{grad_scale,  decay.penalty, decay.keep, 1 - d.beta1, d.beta2,
                                   1 - d.beta2, root_factor,   d.eps,      -rate};
  if (cuda_adam_computes(s)) return cuda_adam(s, exact.rounded<float>());
  if (!tensors::takes_cpu_kernels(s.param)) return composed_adam(s, exact);
  run_kernel(s, [&]<class T, class Grad>(T* param, Grad const* grad, c10::BFloat16* copy) {
    auto const slot = [&](std::size_t i) { return i < s.slots.size() ? s.slots[i].mutable_data_ptr<T>() : nullptr; };
    adam_arrays<T, Grad> const arrays{param, grad, slot(0), slot(1), slot(2), copy};
    auto const numbers = exact.rounded<T>();
    tensors::parallel(s.param.numel(), update_grain, [&](std::int64_t begin, std::int64_t end) {
      adam_kernel(arrays, begin, end, numbers, has_avx2());
    });
  });
}

REDCO_INLINE void update_by(adamw const& d, segment& s, double lr, std::int64_t step, double grad_scale) {
  double const decay = decay_of(d, s);
  update_adam(d, {.keep = 1 - lr * decay}, s, lr, step, grad_scale);
}

REDCO_INLINE void update_by(adam const& d, segment& s, double lr, std::int64_t step, double grad_scale) {
  double const decay = decay_of(d, s);
  update_adam(d, {.penalty = decay}, s, lr, step, grad_scale);
}

REDCO_INLINE void update_by(sgd const& d, segment& s, double lr, std::int64_t step, double grad_scale) {
  double const decay = decay_of(d, s);
  bool const first = step == 1;  // the buffer starts as the first gradient
  sgd_numbers<double> const exact{grad_scale, decay,     first ? 0 : d.momentum, first ? 1 : 1 - d.dampening, -lr,
                                  d.momentum, d.nesterov};
  if (!tensors::takes_cpu_kernels(s.param)) return composed_sgd(s, exact);
  run_kernel(s, [&]<class T, class Grad>(T* param, Grad const* grad, c10::BFloat16* copy) {
    sgd_arrays<T, Grad> const arrays{param, grad, s.slots.empty() ? nullptr : s.slots[0].mutable_data_ptr<T>(), copy};
    auto const numbers = exact.rounded<T>();
    tensors::parallel(s.param.numel(), update_grain, [&](std::int64_t begin, std::int64_t end) {
      sgd_kernel(arrays, begin, end, numbers, has_avx2());
    });
  });
}

}  // namespace redco::update::detail
