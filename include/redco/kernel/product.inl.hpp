#pragma once

#include <redco/kernel/product.hpp>

#include <redco/kernel/cpu/product.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE void product_into(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias) {
  at::NoGradGuard const unrecorded;
  auto const by_aten = [&] {
    at::Tensor out = y;
    bias.defined() ? at::addmm_out(out, bias, a, b) : at::mm_out(out, a, b);
  };
  detail::dispatch(
      a, [&] { cpu::product(y, a, b, bias); }, by_aten);
}

}  // namespace redco::kernel
