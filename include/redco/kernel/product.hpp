#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// a b of two matrices, as the gradients of `linear` are made: ATen's, in bf16 that of the path in use. Where a graph is recorded
/// (create_graph) it is ATen's and differentiable.
at::Tensor product(at::Tensor const& a, at::Tensor const& b);

/// y = a b, plus `bias` where it is defined, into memory that is there: what `linear` gives for many rows where b is W^T, and what
/// `product` gives. No graph is recorded.
void product_into(at::Tensor const& y, at::Tensor const& a, at::Tensor const& b, at::Tensor const& bias = {});

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/product.inl.hpp>
#endif
