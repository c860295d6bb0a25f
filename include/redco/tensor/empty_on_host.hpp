#pragma once

#include <redco/tensor/torch.hpp>

#include <ATen/EmptyTensor.h>

namespace redco::tensors {

/// Returns an uninitialised contiguous tensor in host memory. Faster than at::empty, whose operator
/// dispatch takes longer than the work on a small tensor.
inline at::Tensor empty_on_host(at::IntArrayRef sizes, at::ScalarType type) {
  return at::Tensor(at::detail::empty_cpu(sizes, type));
}

}  // namespace redco::tensors
