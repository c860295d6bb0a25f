#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns the matrix product a b, as the gradients of `linear` need it. On a CPU, uses the
/// implementation of this process for bf16 (bf16_path) and for large products in f32 (f32_path),
/// else ATen. With grad mode on (create_graph), ATen computes the product and autograd records it.
at::Tensor product(at::Tensor const& a, at::Tensor const& b);

/// Computes y = a b + bias into existing memory; `bias` may be undefined. The result is bit-equal
/// to that of `product` with grad mode off. With b = W^T it is bit-equal to that of `linear`,
/// unless `linear` uses its kernels for few rows or small products. Not recorded by autograd.
void product_into(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias = {});

inline at::Tensor product(at::Tensor const& a, at::Tensor const& b) {
  if (at::GradMode::is_enabled()) return at::mm(a, b);
  auto const y = at::empty({a.size(0), b.size(1)}, a.options());
  product_into(y, a, b);
  return y;
}

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/product.inl.hpp>
#endif
