#pragma once

#include "episodes.hpp"

#include <redco/tensor/torch.hpp>

#include <cstdint>

/// Returns generalised advantages (Schulman et al. 2016) of a rollout, `[T, N]`. `values` and
/// `next_values`, `[T, N]`: estimated returns from the observations `seen` and `next`. A terminated
/// episode earns nothing after its last step. A truncated episode could have gone on, so the value
/// of its last observation counts. The rewards of the next episode do not.
inline at::Tensor generalised_advantages(rollout const& r, at::Tensor const& values, at::Tensor const& next_values,
                                         double discount, double smoothing) {
  at::Tensor const errors = r.reward + discount * (1 - r.terminated) * next_values - values;
  at::Tensor const all = errors.to(at::kDouble, false, true).contiguous();
  double* const sums = all.mutable_data_ptr<double>();
  float const* const ended = r.ended.const_data_ptr<float>();
  std::int64_t const n = all.size(1);
  for (std::int64_t i = all.numel() - n - 1; i >= 0; --i)
    if (ended[i] == 0) sums[i] += discount * smoothing * sums[i + n];
  return all.to(values.scalar_type());
}
