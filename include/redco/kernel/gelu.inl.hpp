#pragma once

#include <redco/kernel/gelu.hpp>

#include <redco/kernel/composed/gelu.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/gelu.hpp>
#include <redco/kernel/cuda/activation.hpp>
#include <redco/kernel/cuda/computes.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor gelu(at::Tensor const& x, gelu_form form) {
  if (cuda::computes(x)) return cuda::gelu(x, form);
  return cpu::computes(x) ? cpu::gelu(x, form) : composed::gelu(x, form);
}

}  // namespace redco::kernel
