#pragma once

#include <redco/kernel/linear.hpp>

#include <redco/kernel/cpu/linear.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  return detail::dispatch(
      x, [&] { return cpu::linear(x, weight, bias); }, [&] { return at::linear(x, weight, bias); });
}

}  // namespace redco::kernel
