#pragma once

#include <redco/kernel/layer_norm.hpp>

#include <redco/kernel/composed/norm.hpp>
#include <redco/kernel/cpu/norm.hpp>
#include <redco/kernel/cuda/norm.hpp>
#include <redco/kernel/detail/check_norm.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor layer_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                                   double epsilon) {
  detail::check_norm("layer_norm", x, weight, bias);
  return detail::dispatch(
      x, [&] { return cuda::norm<true>(x, weight, bias, epsilon); },
      [&] { return cpu::norm<true>(x, weight, bias, epsilon); },
      [&] { return composed::norm<true>(x, weight, bias, epsilon).y; });
}

}  // namespace redco::kernel
