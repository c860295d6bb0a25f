#pragma once

#include <redco/update/segment.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::update::detail {

/// Calls run(parameters, gradient, copy) for segment `s` with typed pointers. The parameters are
/// the f32 or f64 masters. `copy` is the bf16 copy that the model computes with, or null; a copy of
/// another dtype is updated afterwards. f32 parameters accept f32 and bf16 gradients; other
/// gradients are converted.
template <class Run>
void run_kernel(segment const& s, Run const& run) {
  at::NoGradGuard const no_grad;
  bool const fused_copy =
      s.compute.defined() && s.compute.scalar_type() == at::kBFloat16 && s.param.scalar_type() == at::kFloat;
  auto* const copy = fused_copy ? s.compute.mutable_data_ptr<c10::BFloat16>() : nullptr;
  if (s.param.scalar_type() == at::kDouble) {
    at::Tensor const grad = s.grad.to(at::kDouble);
    run(s.param.mutable_data_ptr<double>(), grad.const_data_ptr<double>(), copy);
  } else if (s.grad.scalar_type() == at::kBFloat16) {
    run(s.param.mutable_data_ptr<float>(), s.grad.const_data_ptr<c10::BFloat16>(), copy);
  } else {
    at::Tensor const grad = s.grad.scalar_type() == at::kFloat ? s.grad : s.grad.to(at::kFloat);
    run(s.param.mutable_data_ptr<float>(), grad.const_data_ptr<float>(), copy);
  }
  if (s.compute.defined() && !fused_copy) s.compute.copy_(s.param);
}

/// Returns the weight decay of segment `s` in an update by the rule `d`.
template <class Description>
double decay_of(Description const& d, segment const& s) {
  return s.weight_decay.value_or(s.decay || d.decay_all ? d.weight_decay : 0);
}

/// Smallest number of elements that is worth a thread: n elements are updated in at most ceil(n /
/// update_grain) parallel parts.
inline constexpr std::int64_t update_grain = 1 << 15;

}  // namespace redco::update::detail
