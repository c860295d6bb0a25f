#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// a b of two matrices, as the gradients of `linear` are made: ATen's, in bf16 that of the path in use. Where a graph is recorded
/// (create_graph) it is ATen's and differentiable.
at::Tensor product(at::Tensor const& a, at::Tensor const& b);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/product.inl.hpp>
#endif
