#pragma once

#include <cstdint>

namespace redco::kernel::cpu {

/// A row-major matrix operand of a product. If `transposed`, the operand is the transpose of the
/// stored matrix.
template <class T>
struct matrix {
  T const* data;
  std::int64_t stride;
  bool transposed = false;

  /// Returns the operand without its first `i` rows.
  matrix from_row(std::int64_t i) const { return {data + i * (transposed ? 1 : stride), stride, transposed}; }
};

}  // namespace redco::kernel::cpu
