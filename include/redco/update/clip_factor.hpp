#pragma once

#include <algorithm>

namespace redco::update {

/// Returns the factor that scales gradients of norm `norm` to at most `max_norm`, or 1 if max_norm
/// is 0 (no clipping). Equals the factor of torch.nn.utils.clip_grad_norm_, including its 1e-6.
inline double clip_factor(double norm, double max_norm) {
  return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace redco::update
