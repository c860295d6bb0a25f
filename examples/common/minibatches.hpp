#pragma once

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

/// Returns the rows of `table` in random order, cut into minibatches of `size` rows. The last
/// minibatch has the remaining rows.
inline std::vector<at::Tensor> minibatches(at::Tensor const& table, std::int64_t size, std::mt19937& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(table.size(0)));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return table.index_select(0, at::tensor(order).to(table.device())).split(size);
}
