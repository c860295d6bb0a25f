#pragma once

#include <redco/kernel/linear.hpp>

#include <redco/kernel/cpu/linear.hpp>
#include <redco/kernel/cpu/small_linear.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/kernel/relu.hpp>
#include <redco/tensor/recorded_node.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  return detail::dispatch(
      x, [&] { return cpu::linear(x, weight, bias); }, [&] { return at::linear(x, weight, bias); });
}

REDCO_INLINE at::Tensor linear_before_relu(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  auto const two = [&] { return linear(x, weight, bias); };
  auto const one = [&] {
    return is_recorded(x, weight, bias) && cpu::is_small_linear(x, weight, bias)
               ? cpu::small_linear(x, weight, bias, true)
               : two();
  };
  return detail::dispatch(x, one, two);
}

REDCO_INLINE at::Tensor relu_after(at::Tensor const& product) {
  return cpu::save_rectified(product) ? product : kernel::relu(product);
}

}  // namespace redco::kernel
