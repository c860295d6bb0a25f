#pragma once

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cmath>

namespace redco::update {

/// The norm of the gradient over all shards, the same on every rank: the square root of the sum of `local_square` (squared_norm()
/// over this rank's segments) over the ranks of `shards`, divided by `count`, the step's global weight. One message of
/// eight bytes; none in a group of one. Gradients are already summed over dp.
inline double gradient_norm(double local_square, group& shards, double count = 1) {
  double total = local_square;
  if (shards.size() > 1) {
    at::Tensor const sum = at::full({1}, local_square, at::kDouble);
    shards.all_reduce(sum);
    total = *sum.const_data_ptr<double>();
  }
  return std::sqrt(total) / count;
}

}  // namespace redco::update
