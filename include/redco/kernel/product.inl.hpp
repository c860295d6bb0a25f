#pragma once

#include <redco/kernel/product.hpp>

#include <redco/kernel/cpu/bf16_product.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE at::Tensor product(at::Tensor const& a, at::Tensor const& b) {
  if (at::GradMode::is_enabled() || a.scalar_type() != at::kBFloat16 || !cpu::computes(a)) return at::mm(a, b);
  auto const y = at::empty({a.size(0), b.size(1)}, a.options());
  cpu::bf16_product(y, a, b);
  return y;
}

}  // namespace redco::kernel
