#pragma once

#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

/// Returns true if redco's CPU kernels (folder cpu/) compute operations on `x`. Otherwise ATen
/// operators (folder composed/) do.
inline bool computes(at::Tensor const& x) {
  return tensors::takes_cpu_kernels(x) &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kDouble);
}

/// Calls f with a value of the C++ type in which elements of `type` are computed: double for f64,
/// else float.
template <class F>
void with_real(at::ScalarType type, F const& f) {
  if (type == at::kDouble) f(double{});
  else f(float{});
}

/// Calls f with a value of the C++ type that corresponds to `type`: float, double or c10::BFloat16.
template <class F>
void with_element(at::ScalarType type, F const& f) {
  if (type == at::kBFloat16) f(at::BFloat16{});
  else with_real(type, f);
}

}  // namespace redco::kernel::cpu
