#pragma once

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cmath>

namespace redco::update {

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

}  // namespace redco::update
