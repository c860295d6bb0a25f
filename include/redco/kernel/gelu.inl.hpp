#pragma once

#include <redco/kernel/gelu.hpp>

#include <redco/kernel/composed/gelu.hpp>
#include <redco/kernel/cpu/gelu.hpp>
#include <redco/kernel/cuda/activation.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  return detail::dispatch(
      x, [&] { return cuda::gelu(x, form); }, [&] { return cpu::gelu(x, form); },
      [&] { return composed::gelu(x, form); });
}

}  // namespace redco::kernel
