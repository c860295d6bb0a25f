#pragma once

#include <cstdint>

namespace redco::kernel::cpu {

/// A row-major matrix for products: `transposed` takes the rows for columns.
template <class T>
struct matrix {
  T const* data;
  std::int64_t stride;
  bool transposed = false;

  /// The same from row i on.
  matrix from_row(std::int64_t i) const { return {data + i * (transposed ? 1 : stride), stride, transposed}; }
};

}  // namespace redco::kernel::cpu
