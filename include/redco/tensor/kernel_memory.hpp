#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::tensors {

/// Returns a pointer through which a kernel reads a contiguous tensor; null if the tensor is
/// undefined.
inline void const* read_by_kernel(at::Tensor const& x) { return x.defined() ? x.const_data_ptr() : nullptr; }

/// Returns a pointer through which a kernel writes a contiguous tensor; null if the tensor is
/// undefined.
inline void* written_by_kernel(at::Tensor const& x) { return x.defined() ? x.mutable_data_ptr() : nullptr; }

}  // namespace redco::tensors
