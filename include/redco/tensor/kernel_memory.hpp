#pragma once

#include <redco/tensor/torch.hpp>

namespace redco {

/// Where a kernel reads a contiguous tensor; null for an undefined one.
inline void const* read_by_kernel(at::Tensor const& x) { return x.defined() ? x.const_data_ptr() : nullptr; }

/// And where it writes it.
inline void* written_by_kernel(at::Tensor const& x) { return x.defined() ? x.mutable_data_ptr() : nullptr; }

}  // namespace redco
