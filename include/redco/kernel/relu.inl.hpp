#pragma once

#include <redco/kernel/relu.hpp>

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/small_relu.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor relu(at::Tensor const& x) {
  return cpu::computes(x) && cpu::is_small_relu(x) ? cpu::small_relu(x) : at::relu(x);
}

}  // namespace redco::kernel
