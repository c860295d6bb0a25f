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
  for (norm_range const& range : ranges) {
    at::Tensor const part = flat.slice(0, range.begin, range.end);
    if (range.weight == 0 || part.numel() == 0) continue;
    total += range.weight * (fast ? detail::sum_of_squares_of(part) : detail::composed_sum_of_squares(part));
  }
  return total;
}

}  // namespace redco::update
