#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::update::detail {

/// CUDA kernel that sums squares of elements in f64. It writes one partial sum per thread.
inline constexpr tensors::kernel_source cuda_squares_source{"squares", R"cuda(
// Writes one partial sum per thread of the grid; `sums` has that many elements.
REDCO_ENTRY void sums_of_squares(element const* x, double* sums, i64 n) {
  double sum = 0;
  for (i64 i = first_of_grid(); i < n; i += size_of_grid()) {
    double const each = wide(x[i]);
    sum += each * each;
  }
  sums[first_of_grid()] = sum;
}
)cuda"};

}  // namespace redco::update::detail
