#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns the matrix product a b, as used for the gradients of `linear`. For bf16 on a CPU, the
/// implementation in use (bf16_path) computes the product, else ATen. With grad mode on
/// (create_graph), ATen computes the product and autograd records it.
at::Tensor product(at::Tensor const& a, at::Tensor const& b);

/// Computes y = a b + bias into existing memory; `bias` may be undefined. Gives the bits of
/// `linear` for many rows (b = W^T), and of `product`. Not recorded by autograd.
void product_into(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias = {});

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/product.inl.hpp>
#endif
