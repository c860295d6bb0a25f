#pragma once

#include <redco/kernel/swiglu.hpp>

#include <redco/kernel/composed/swiglu.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/swiglu.hpp>
#include <redco/kernel/cuda/computes.hpp>
#include <redco/kernel/cuda/swiglu.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor swiglu(at::Tensor const& both) {
  if (both.dim() == 0 || both.size(-1) % 2 != 0)
    throw error(exit_code::internal,
                "swiglu: gate and up must be the halves of the last dimension: give one of even size");
  if (cuda::computes(both)) return cuda::swiglu(both);
  return cpu::computes(both) ? cpu::swiglu(both) : composed::swiglu(both);
}

}  // namespace redco::kernel
