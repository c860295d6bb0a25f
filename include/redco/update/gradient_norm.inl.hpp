#pragma once

#include <redco/update/gradient_norm.hpp>

#include <redco/update/detail/composed.hpp>
#include <redco/update/detail/cuda.hpp>
#include <redco/update/detail/sum_of_squares.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/config.hpp>

namespace redco::update {

REDCO_INLINE double squared_norm(at::Tensor const& flat, std::span<norm_range const> ranges) {
  at::NoGradGuard const no_grad;
  bool const on_device = detail::cuda_squares_computes(flat), on_cpu = !on_device && tensors::takes_cpu_kernels(flat);
  double total = 0;
  at::Tensor sum;  // read once at the end, to wait for a device only once
  if (!on_cpu) sum = at::zeros({}, flat.options().dtype(at::kDouble));
  for (norm_range const& range : ranges) {
    if (range.weight == 0 || range.begin == range.end) continue;
    if (on_cpu) {
      total += range.weight * detail::sum_of_squares_of(flat, range.begin, range.end);
      continue;
    }
    bool const whole = range.begin == 0 && range.end == flat.numel();
    at::Tensor const part = whole ? flat : flat.slice(0, range.begin, range.end);
    sum += range.weight * (on_device ? detail::cuda_sum_of_squares(part) : detail::composed_sum_of_squares(part));
  }
  return on_cpu ? total : sum.item<double>();
}

REDCO_INLINE double largest_magnitude(at::Tensor const& flat, std::span<norm_range const> ranges) {
  at::NoGradGuard const no_grad;
  at::Tensor largest = at::zeros({}, flat.options());  // read once, to wait for a device only once
  for (norm_range const& range : ranges) {
    if (range.weight == 0 || range.begin == range.end) continue;
    auto const [low, high] = at::aminmax(flat.slice(0, range.begin, range.end));
    largest = at::maximum(largest, at::maximum(low.neg(), high));
  }
  return largest.item<double>();
}

}  // namespace redco::update
