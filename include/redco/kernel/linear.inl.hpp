#pragma once

#include <redco/kernel/linear.hpp>

#include <redco/kernel/activations.hpp>
#include <redco/kernel/cpu/activate.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/fused_linear.hpp>
#include <redco/kernel/cpu/linear.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/kernel/parameter_uses.hpp>
#include <redco/tensor/without_dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor linear(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  at::Tensor const y = detail::dispatch(
      x, [&] { return cpu::linear(x, weight, bias); }, [&] { return at::linear(x, weight, bias); });
  return reported_linear(y, x, weight, bias);
}

REDCO_INLINE at::Tensor linear_before(after_linear next, at::Tensor const& x, at::Tensor const& weight,
                                      at::Tensor const& bias) {
  auto const two = [&] { return linear(x, weight, bias); };
  auto const one = [&] {
    return tensors::is_recorded(x, weight, bias) && cpu::is_small_linear(x, weight, bias) &&
                   parameter_uses::current() == nullptr
               ? cpu::fused_linear(x, weight, bias, next)
               : two();
  };
  return detail::dispatch(x, one, two);
}

REDCO_INLINE at::Tensor activated(at::Tensor const& product, after_linear next) {
  if (cpu::save_result(product)) return product;
  bool const in_place = !product.requires_grad() && cpu::computes(product) && product.is_contiguous();
  if (in_place) cpu::activate(next, product);
  if (in_place || next == after_linear::nothing) return product;
  return next == after_linear::relu ? kernel::relu(product) : kernel::tanh(product);
}

}  // namespace redco::kernel
