#pragma once

#include <redco/kernel/cpu/product.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace redco::kernel::cpu {

/// Returns the process's count of pairs of a query block and a key block that a product of scores
/// has computed for attention with a pattern of blocks. Forward computes one product of scores,
/// backward two: scores, and the gradients of probabilities.
inline std::atomic<std::int64_t>& touched_blocks() {
  static std::atomic<std::int64_t> count{0};
  return count;
}

/// Consecutive query rows of one head, and the columns of their scores. The first `far` columns are
/// the keys of the global blocks before the tile's windows, copied one after another. The columns
/// after them are the keys from `base` on, up to the tile's last position.
struct sparse_tile {
  std::int64_t begin = 0, end = 0;              ///< Positions of the queries, [begin, end)
  std::int64_t block_begin = 0, block_end = 0;  ///< Blocks of these positions
  std::int64_t far = 0, base = 0;
  std::int64_t stride = 0;  ///< Columns of a row in memory
};

/// A run of columns of scores whose keys are consecutive.
struct sparse_span {
  std::int64_t column, key, count;
};

/// Gradients of keys and values of one head.
template <class Sum>
struct key_gradients {
  Sum *dk = nullptr, *dv = nullptr;
  std::int64_t k_stride = 0, v_stride = 0;

  void clear(std::int64_t rows, std::int64_t width) const {
    for (std::int64_t j = 0; j < rows; ++j)
      std::fill_n(dk + j * k_stride, width, Sum(0)), std::fill_n(dv + j * v_stride, width, Sum(0));
  }
};

/// Keys or values of one head: all rows, and copies of the rows of global blocks.
template <class T>
struct sparse_operand {
  matrix<T> all, far;
};

}  // namespace redco::kernel::cpu
