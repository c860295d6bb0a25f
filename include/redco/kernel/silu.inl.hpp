#pragma once

#include <redco/kernel/silu.hpp>

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/silu.hpp>
#include <redco/kernel/cuda/activation.hpp>
#include <redco/kernel/cuda/computes.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor silu(at::Tensor const& x) {
  if (cuda::computes(x)) return cuda::silu(x);
  return cpu::computes(x) ? cpu::silu(x) : at::silu(x);
}

}  // namespace redco::kernel
