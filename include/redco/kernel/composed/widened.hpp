#pragma once

#include <redco/tensor/torch.hpp>

namespace redco::kernel::composed {

/// Returns the dtype in which sums of elements of `type` are computed: f64 for f64, else f32.
inline at::ScalarType sum_type(at::ScalarType type) { return type == at::kDouble ? at::kDouble : at::kFloat; }

inline at::Tensor widened(at::Tensor const& x) { return x.to(sum_type(x.scalar_type())); }

}  // namespace redco::kernel::composed
