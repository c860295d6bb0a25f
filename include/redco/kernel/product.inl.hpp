#pragma once

#include <redco/kernel/product.hpp>

#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE void product_into(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias) {
  at::NoGradGuard const unrecorded;
  detail::dispatch(
      a, [&] { cpu::product(y, a, b, bias); }, [&] { cpu::aten_product(y, a, b, bias); });
}

}  // namespace redco::kernel
