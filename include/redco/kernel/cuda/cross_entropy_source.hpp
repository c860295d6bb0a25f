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
  // The target of a row with label y is `kept` times the weight of y at y, plus `spread` times its
  // own weight at each entry. `weights` are those of all entries, null if they are 1; `total` is
  // their sum.
  float const* weights;
  float kept, spread, total;
  float* top;          // [rows] maxima of this shard; after the all-reduce, of all shards
  // [2, rows]: sums of exp(x - top), then sums of x - top times the target. After the all-reduce
  // both are sums over all shards.
  float* stats;
  float soft_cap;  // bound of the logits; 0: none
};

// Returns the column of the label of row r. Returns -1 if the row is ignored or if another shard
// has the label.
__device__ inline i64 label_of(logit_chunk const& c, i64 r) {
  i64 const column = c.labels[r] - c.first;
  return column >= 0 && column < c.valid && c.labels[r] != c.ignored ? column : -1;
}

// Returns the target of row r at its label, without the share that all entries have.
__device__ inline float own_target(logit_chunk const& c, i64 r) {
  return c.weights && c.labels[r] != c.ignored ? c.kept * c.weights[c.labels[r]] : c.kept;
}

// Returns the share of a target that column j has in each row.
__device__ inline float spread_at(logit_chunk const& c, i64 j) {
  return c.weights ? c.spread * c.weights[c.first + j] : c.spread;
}

// Applies the soft cap to the logits and computes the maximum of each row.
REDCO_ENTRY void top_of_rows(logit_chunk c) {
  for (i64 r = blockIdx.x; r < c.rows; r += gridDim.x) {
    element* const row = c.logits + r * c.stride;
    float top = __uint_as_float(0xFF800000u);
    for (i64 j = threadIdx.x; j < c.valid; j += blockDim.x) {
      if (c.soft_cap > 0) put(row[j], c.soft_cap * tanhf(wide(row[j]) / c.soft_cap));
      top = larger_of_two()(top, wide(row[j]));
    }
    top = largest_of_block(top);
    if (threadIdx.x == 0) c.top[r] = top;
  }
}

REDCO_ENTRY void sums_of_rows(logit_chunk c) {
  for (i64 r = blockIdx.x; r < c.rows; r += gridDim.x) {
    element const* const row = c.logits + r * c.stride;
    float const top = c.top[r];
    float part = 0, share = 0;
    for (i64 j = threadIdx.x; j < c.valid; j += blockDim.x) {
      part += expf(wide(row[j]) - top);
      if (c.spread != 0) share += spread_at(c, j) * (wide(row[j]) - top);
    }
    part = sum_of_block(part);
    if (c.spread != 0) share = sum_of_block(share);
    if (threadIdx.x != 0) continue;
    i64 const label = label_of(c, r);
    c.stats[r] = part;
    c.stats[c.rows + r] = (label >= 0 ? own_target(c, r) * (wide(row[label]) - top) : 0.0f) + share;
  }
}

// Replaces each row of logits by the gradient of its loss: the probabilities times the sum of the
// targets, minus the targets, times the derivative of the soft cap. The gradient is 0 in padding
// and in ignored rows.
REDCO_ENTRY void gradient_of_rows(logit_chunk c) {
  for (i64 r = blockIdx.x; r < c.rows; r += gridDim.x) {
    element* const row = c.logits + r * c.stride;
    i64 const label = label_of(c, r), seen = c.labels[r] == c.ignored ? 0 : c.valid;
    float const lse = c.top[r] + logf(c.stats[r]), own = own_target(c, r), all = own + c.spread * c.total;
    for (i64 j = threadIdx.x; j < c.columns; j += blockDim.x) {
      if (j >= seen) {
        put(row[j], 0.0f);
        continue;
      }
      float const bounded = c.soft_cap > 0 ? wide(row[j]) / c.soft_cap : 0.0f, slope = 1 - bounded * bounded;
      float const gradient = expf(wide(row[j]) - lse) * all - spread_at(c, j) - (j == label ? own : 0.0f);
      put(row[j], slope * gradient);
    }
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
