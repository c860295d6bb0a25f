#pragma once

#include <redco/update/squared_norm.hpp>

#include <redco/update/detail/composed.hpp>
#include <redco/update/detail/sum_of_squares.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/config.hpp>

namespace redco::update {

REDCO_INLINE double squared_norm(at::Tensor const& flat, std::span<norm_range const> ranges) {
  at::NoGradGuard const no_grad;
  bool const fast = takes_cpu_kernels(flat);
  double total = 0;
  at::Tensor composed;  // read once, so that a device is waited for once
  if (!fast) composed = at::zeros({}, flat.options().dtype(at::kDouble));
  for (norm_range const& range : ranges) {
    at::Tensor const part = flat.slice(0, range.begin, range.end);
    if (range.weight == 0 || part.numel() == 0) continue;
    if (fast) total += range.weight * detail::sum_of_squares_of(part);
    else composed += range.weight * detail::composed_sum_of_squares(part);
  }
  return fast ? total : composed.item<double>();
}

}  // namespace redco::update
