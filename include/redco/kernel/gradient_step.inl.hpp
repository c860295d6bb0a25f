#pragma once

#include <redco/kernel/gradient_step.hpp>

#include <redco/kernel/cpu/gradient_step.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/config.hpp>

#include <cstddef>

namespace redco::kernel::detail {

/// Returns true if redco's CPU kernels can compute the gradient step p - rate g of all parameters
/// in one pass. Requires that all tensors are in CPU memory and all f32, or all f64.
inline bool is_flat_step(std::vector<at::Tensor> const& parameters, std::vector<at::Tensor> const& gradients) {
  at::ScalarType const type = parameters.front().scalar_type();
  if (type != at::kFloat && type != at::kDouble) return false;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!tensors::takes_cpu_kernels(parameters[i]) || parameters[i].scalar_type() != type ||
        (gradients[i].defined() &&
         (gradients[i].scalar_type() != type || gradients[i].sizes() != parameters[i].sizes())))
      return false;
  return true;
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE std::vector<at::Tensor> gradient_step(std::vector<at::Tensor> const& parameters,
                                                   std::vector<at::Tensor> const& gradients, double rate) {
  if (parameters.empty()) return {};
  if (detail::is_flat_step(parameters, gradients)) return cpu::gradient_step(parameters, gradients, rate);
  std::vector<at::Tensor> next = parameters;
  for (std::size_t i = 0; i < next.size(); ++i)
    if (gradients[i].defined()) next[i] = at::sub(parameters[i], gradients[i], rate);
  return next;
}

}  // namespace redco::kernel
