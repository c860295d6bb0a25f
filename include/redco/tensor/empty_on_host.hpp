#pragma once

#include <redco/tensor/torch.hpp>

#include <ATen/EmptyTensor.h>

namespace redco {

/// A tensor without values, contiguous, in host memory: at::empty without the dispatch of an
/// operator, which takes longer than a small tensor does.
inline at::Tensor empty_on_host(at::IntArrayRef sizes, at::ScalarType type) {
  return at::Tensor(at::detail::empty_cpu(sizes, type));
}

}  // namespace redco
