#pragma once

#include <redco/kernel/activations.hpp>

#include <redco/kernel/composed/activations.hpp>
#include <redco/kernel/cpu/activate.hpp>
#include <redco/kernel/cpu/activations.hpp>
#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/kernel/cuda/activations.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  return detail::dispatch(
      x, [&] { return cuda::gelu(x, form); }, [&] { return cpu::gelu(x, form); },
      [&] { return composed::gelu(x, form); });
}

REDCO_INLINE at::Tensor relu(at::Tensor const& x) {
  auto const many = [&] { return at::relu(x); };
  return detail::dispatch(
      x, [&] { return cpu::is_small_relu(x) ? cpu::small_relu(x) : many(); }, many);
}

REDCO_INLINE at::Tensor silu(at::Tensor const& x) {
  return detail::dispatch(
      x, [&] { return cuda::silu(x); }, [&] { return cpu::silu(x); }, [&] { return at::silu(x); });
}

REDCO_INLINE at::Tensor tanh(at::Tensor const& x) {
  return detail::dispatch(
      x, [&] { return cpu::tanh(x); }, [&] { return at::tanh(x); });
}

REDCO_INLINE at::Tensor swiglu(at::Tensor const& both) {
  if (both.dim() == 0 || both.size(-1) % 2 != 0)
    throw error(exit_code::internal,
                "swiglu: gate and up must be the halves of the last dimension: give one of even size");
  return detail::dispatch(
      both, [&] { return cuda::swiglu(both); }, [&] { return cpu::swiglu(both); },
      [&] { return composed::swiglu(both); });
}

}  // namespace redco::kernel
