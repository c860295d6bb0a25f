#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::kernel::cuda {

/// CUDA kernel that rotates features by rotary positions, in place. Each thread rotates one pair of
/// features of all heads of a row. Angles are computed in f64.
inline constexpr tensors::kernel_source rotate_source{"rotate", R"cuda(
struct rotary_parameters {
  i64 batch, rows, batch_stride, row_stride, heads, head_dim, dims, first;
  int neighbours, positions_of_each_example;
  float sign, amplitude;
  double frequencies[256];  // Radians per position by which each pair is rotated
};

// Rotates x in place. `positions` is [batch or 1, rows]. If `positions` is null, row t has the
// position first + t.
REDCO_ENTRY void rotate_rows(element* x, i64 const* positions, rotary_parameters by) {
  i64 const half = by.dims / 2, apart = by.neighbours ? 1 : half, step = by.neighbours ? 2 : 1;
  for (i64 i = first_of_grid(); i < by.batch * by.rows * half; i += size_of_grid()) {
    i64 const pair = i % half, row = i / half, b = row / by.rows, t = row % by.rows;
    i64 const position = positions ? positions[by.positions_of_each_example ? row : t] : by.first + t;
    double const angle = static_cast<double>(position) * by.frequencies[pair];
    float const c = static_cast<float>(by.amplitude * cos(angle));
    float const s = by.sign * static_cast<float>(by.amplitude * sin(angle));
    element* const here = x + b * by.batch_stride + t * by.row_stride + pair * step;
    for (i64 h = 0; h < by.heads; ++h) {
      element* const one = here + h * by.head_dim;
      float const u = wide(one[0]), v = wide(one[apart]);
      put(one[0], u * c - v * s);
      put(one[apart], v * c + u * s);
    }
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
