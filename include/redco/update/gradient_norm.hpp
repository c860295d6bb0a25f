#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace redco::update {

/// A range [begin, end) of a flat gradient buffer, and the weight of its squares in the global
/// norm. The weight is 1 for elements that only this rank holds, 1 / n for elements of which n
/// ranks hold equal copies, and 0 for padding.
struct norm_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double weight = 1;
};

/// Returns the weighted sum of squares of a flat gradient over `ranges`, computed in f64. The
/// gradient may have any floating dtype. The order of summation depends only on the ranges. All
/// ranges must be within the tensor.
double squared_norm(at::Tensor const& flat, std::span<norm_range const> ranges);

/// Returns the largest magnitude of the elements of a flat gradient in `ranges` with a weight above
/// 0, or 0 if there is none. It is exact for every floating dtype, and NaN if one of these elements
/// is NaN. All ranges must be within the tensor.
double largest_magnitude(at::Tensor const& flat, std::span<norm_range const> ranges);

/// Returns the norm of the whole model's gradient, equal on all ranks: the square root of the sum
/// of `local_square` over the ranks of `shards`, divided by `count`. `local_square` is the
/// squared_norm of this rank's gradients, already summed over data-parallel ranks. `count` is the
/// loss weight of the step, by which gradients are divided.
///
/// All ranks of `shards` must call it. Sends one message of 8 bytes; none in a group of one rank.
inline double gradient_norm(double local_square, comm::group& shards, double count = 1) {
  double total = local_square;
  if (shards.size() > 1) {
    at::Tensor const sum = at::full({1}, local_square, at::kDouble);
    shards.all_reduce(sum);
    total = *sum.const_data_ptr<double>();
  }
  return std::sqrt(total) / count;
}

/// Returns the inf-norm of the whole model's gradient, equal on all ranks: the maximum of
/// `local_largest` over the ranks of `shards`, divided by `count`. `local_largest` is the
/// largest_magnitude of this rank's gradients; all else is as for gradient_norm().
inline double gradient_inf_norm(double local_largest, comm::group& shards, double count = 1) {
  if (shards.size() == 1) return local_largest / count;
  at::Tensor const largest = at::full({1}, local_largest, at::kDouble);
  shards.all_reduce(largest, comm::reduce_op::max);
  return *largest.const_data_ptr<double>() / count;
}

/// Returns the factor that scales gradients of norm `norm` to at most `max_norm`, or 1 if max_norm
/// is 0 (no clipping). Equals the factor of torch.nn.utils.clip_grad_norm_, including its 1e-6.
inline double clip_factor(double norm, double max_norm) {
  return max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace redco::update

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/gradient_norm.inl.hpp>
#endif
