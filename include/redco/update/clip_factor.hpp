#pragma once

#include <algorithm>

namespace redco::update {

/// What gradients of norm `norm` are multiplied by so that their norm is at most `max_norm`; 1 when max_norm is 0 (no
/// clipping). Source: torch.nn.utils.clip_grad_norm_, its 1e-6 included.
inline double clip_factor(double norm, double max_norm) {
  return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace redco::update
