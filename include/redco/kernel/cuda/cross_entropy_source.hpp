#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::kernel::cuda {

/// CUDA kernels for the rows of a chunk of logits: maxima, sums of exponentials, and gradients.
/// Each block of threads computes one row at a time.
inline constexpr tensors::kernel_source cross_entropy_source{"cross_entropy", R"cuda(
// Logits [rows, columns] of one shard of the vocabulary. Rows are `stride` elements apart. The
// first `valid` columns are entries of the vocabulary; the rest is padding. `labels` are global
// indices.
struct logit_chunk {
  element* logits;
  i64 rows, columns, stride, valid;
  i64 const* labels;
  i64 first, ignored;  // global index of column 0; label of rows without a loss
  float* top;          // [rows] maxima of this shard; after the all-reduce, of all shards
  // [2, rows]: sums of exp(x - top), then x - top of the label (0 if another shard has the label).
  // After the all-reduce both are sums over all shards.
  float* stats;
};

// Returns the column of the label of row r. Returns -1 if the row is ignored or if another shard
// has the label.
__device__ inline i64 label_of(logit_chunk const& c, i64 r) {
  i64 const column = c.labels[r] - c.first;
  return column >= 0 && column < c.valid && c.labels[r] != c.ignored ? column : -1;
}

REDCO_ENTRY void top_of_rows(logit_chunk c) {
  for (i64 r = blockIdx.x; r < c.rows; r += gridDim.x) {
    element const* const row = c.logits + r * c.stride;
    float top = __uint_as_float(0xFF800000u);
    for (i64 j = threadIdx.x; j < c.valid; j += blockDim.x) top = larger_of_two()(top, wide(row[j]));
    top = largest_of_block(top);
    if (threadIdx.x == 0) c.top[r] = top;
  }
}

REDCO_ENTRY void sums_of_rows(logit_chunk c) {
  for (i64 r = blockIdx.x; r < c.rows; r += gridDim.x) {
    element const* const row = c.logits + r * c.stride;
    float const top = c.top[r];
    float part = 0;
    for (i64 j = threadIdx.x; j < c.valid; j += blockDim.x) part += expf(wide(row[j]) - top);
    part = sum_of_block(part);
    if (threadIdx.x != 0) continue;
    i64 const label = label_of(c, r);
    c.stats[r] = part;
    c.stats[c.rows + r] = label >= 0 ? wide(row[label]) - top : 0.0f;
  }
}

// Replaces each row of logits by the gradient of its loss: the probabilities, minus 1 at the label.
// The gradient is 0 in padding and in ignored rows.
REDCO_ENTRY void gradient_of_rows(logit_chunk c) {
  for (i64 r = blockIdx.x; r < c.rows; r += gridDim.x) {
    element* const row = c.logits + r * c.stride;
    i64 const label = label_of(c, r), seen = c.labels[r] == c.ignored ? 0 : c.valid;
    float const lse = c.top[r] + logf(c.stats[r]);
    for (i64 j = threadIdx.x; j < c.columns; j += blockDim.x)
      put(row[j], j < seen ? expf(wide(row[j]) - lse) - (j == label ? 1.0f : 0.0f) : 0.0f);
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
