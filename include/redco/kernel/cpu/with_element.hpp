#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

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
