#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::kernel::cuda {

/// CUDA kernels for a block of attention scores, run between the matrix products. Each block of
/// threads computes one row of scores at a time.
inline constexpr tensors::kernel_source attention_source{"attention", R"cuda(
// A block of scores q k^T [examples, heads, rows, keys]: some queries, and the keys that at least
// one of these queries may see. Pointers point to data of the block's first example, query and key.
struct score_block {
  // `rows`: number of queries of an example in this block; `queries`: in the whole tensor.
  i64 examples, heads, rows, keys, queries;
  i64 query0, key0;  // positions of the block's first query and first key in the sequence
  i64 window;        // number of keys that a query may see; 0: no limit
  bool const* mask;  // true for keys that may be seen; null: all
  i64 mask_stride;   // elements between the masks of two examples
  // Positions of the queries in their documents, [examples, queries]; may be null
  i64 const* documents;
  float const* bias;
  i64 bias_example, bias_head, bias_query, bias_key;  // strides of the bias, in elements
  float* lse;  // logarithms of the sums of exponentials, [examples, heads, queries]
  i64 row0;    // index of the block's first example in the global batch
  u32 head0, k0, k1, threshold;  // dropout drops a probability whose random word is below threshold
  float scale, kept;             // `kept`: factor of the probabilities that dropout keeps
  float cap;                     // bound of the scaled scores; 0: none
  int causal, drops;
  // Pattern of blocks, see block_pattern; `block` 0: none
  i64 block, local, global, patterns;
  int sliding;
  float const* sinks;  // scores without a value, [heads]; may be null
  float* sink_slopes;  // gradients of the sinks, [examples, heads, queries]; may be null
  int partial;         // true if queries also see keys that the call does not have
  // Queries of a partial call that see no key of any call, [examples, heads, queries]; may be null
  bool const* blind;
};

// One row of scores. Its query may see the keys in [low, high) that the mask does not hide.
struct score_row {
  i64 example, head, query, low, high;
  bool sees;   // true if the query may see at least one key
  bool empty;  // true if the row has no key in a partial call
};

__device__ inline bool hidden(score_block const& s, i64 example, i64 j) {
  return s.mask && !s.mask[example * s.mask_stride + j];
}

// Returns true if the pattern of blocks hides key j from the query of row r.
__device__ inline bool dead(score_block const& s, i64 head, i64 query, i64 j) {
  if (s.block == 0) return false;
  i64 const i = (s.query0 + query) / s.block, other = (s.key0 + j) / s.block;
  i64 const near = s.sliding ? (i + 1 > s.local ? i + 1 - s.local : 0) : i / s.local * s.local;
  i64 const from_end = s.local - 1 - other % s.local, first = (s.head0 + head) % s.patterns * s.global;
  return other < near && (from_end < first || from_end >= first + s.global);
}

// Returns log(1 + exp(x)) without overflow.
__device__ inline float log_of_one_more(float x) { return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x)); }

// Returns row n of the block of scores. Called by all threads of a thread block together.
__device__ inline score_row row_of(score_block const& s, i64 n) {
  score_row r;
  r.query = n % s.rows;
  r.head = n / s.rows % s.heads;
  r.example = n / s.rows / s.heads;
  i64 const next = s.query0 + r.query + 1 - s.key0;
  r.low = s.window > 0 && next > s.window ? next - s.window : 0;
  if (s.documents) {
    i64 const start = next - 1 - s.documents[r.example * s.queries + r.query];
    r.low = start > r.low ? start : r.low;
  }
  r.high = s.causal && next < s.keys ? next : s.keys;
  r.sees = true;
  r.empty = false;
  if (!s.mask && !s.partial) return r;
  float any = 0;  // 1 for a masked key, 2 for one that the query sees
  for (i64 j = r.low + threadIdx.x; j < r.high; j += blockDim.x)
    if (!dead(s, r.head, r.query, j)) any = hidden(s, r.example, j) ? larger_of_two()(any, 1) : 2;
  any = largest_of_block(any);
  r.sees = any > 1;
  bool const blind = s.blind && s.blind[(r.example * s.heads + r.head) * s.queries + r.query];
  r.empty = s.partial && !r.sees && !(blind && any > 0);
  return r;
}

// Returns the input of softmax for key j. In a row that sees no key, the keys in [low, high) have
// equal inputs.
__device__ inline float adjusted(score_block const& s, score_row const& r, i64 j, float score) {
  float const never = __uint_as_float(0xFF800000u);
  if (j < r.low || j >= r.high || dead(s, r.head, r.query, j)) return never;
  if (!r.sees) return r.empty ? never : 0;
  if (hidden(s, r.example, j)) return never;
  float z = score * s.scale;
  if (s.cap > 0) z = s.cap * tanhf(z / s.cap);
  if (s.bias)
    z += s.bias[r.example * s.bias_example + r.head * s.bias_head + r.query * s.bias_query + j * s.bias_key];
  return z;
}

// Returns the derivative of the soft cap for a score; 1 without a cap.
__device__ inline float cap_slope(score_block const& s, float score) {
  if (!(s.cap > 0)) return 1;
  float const t = tanhf(score * s.scale / s.cap);
  return 1 - t * t;
}

struct four_factors {
  float at[4];
};

// Returns the factors of dropout for the keys 4 * group to 4 * group + 3, counted among all keys.
__device__ inline four_factors factors_of(score_block const& s, score_row const& r, i64 group) {
  if (!s.drops) return {{1, 1, 1, 1}};
  four_words const words = philox(static_cast<u32>(group), static_cast<u32>(s.query0 + r.query),
                                  s.head0 + static_cast<u32>(r.head), static_cast<u32>(s.row0 + r.example), s.k0, s.k1);
  four_factors keep;
  for (int w = 0; w < 4; ++w) keep.at[w] = words.at[w] < s.threshold ? 0.0f : s.kept;
  return keep;
}

// Computes the probabilities p, after dropout, of the scores z. Overwrites z; p may be z.
REDCO_ENTRY void attention_probabilities(score_block s, float* z, element* p) {
  for (i64 n = blockIdx.x; n < s.examples * s.heads * s.rows; n += gridDim.x) {
    score_row const r = row_of(s, n);
    float* const row = z + n * s.keys;
    float top = __uint_as_float(0xFF800000u), total = 0;
    for (i64 j = threadIdx.x; j < s.keys; j += blockDim.x) {
      row[j] = adjusted(s, r, j, row[j]);
      top = larger_of_two()(top, row[j]);
    }
    top = r.empty ? 0 : largest_of_block(top);
    for (i64 j = threadIdx.x; j < s.keys; j += blockDim.x) {
      row[j] = expf(row[j] - top);
      total += row[j];
    }
    total = sum_of_block(total);
    float const all = top + logf(total), more = s.sinks ? log_of_one_more(s.sinks[r.head] - all) : 0.0f;
    if (threadIdx.x == 0) s.lse[(r.example * s.heads + r.head) * s.queries + r.query] = all + more;
    float const share = r.empty ? 0 : s.sinks ? expf(-more) / total : 1 / total;
    for (i64 group = s.key0 / 4 + threadIdx.x; 4 * group < s.key0 + s.keys; group += blockDim.x) {
      four_factors const keep = factors_of(s, r, group);
      for (int w = 0; w < 4; ++w) {
        i64 const j = 4 * group + w - s.key0;
        if (j >= 0 && j < s.keys) put(p[n * s.keys + j], row[j] * share * keep.at[w]);
      }
    }
  }
}

// Computes the probabilities p and the gradients of the adjusted scores from the scores z and the
// gradients dp of p. Writes these gradients to dp in f32. Writes them times the derivative of the
// soft cap to ds as elements. g and out are [examples, queries, heads, width]. p may be z, and ds
// may be dp if dp is not read afterwards.
REDCO_ENTRY void attention_score_gradients(score_block s, float const* z, float* dp, element const* g, element const* out,
                                           element* p, element* ds, i64 width) {
  for (i64 n = blockIdx.x; n < s.examples * s.heads * s.rows; n += gridDim.x) {
    score_row const r = row_of(s, n);
    i64 const here = ((r.example * s.queries + r.query) * s.heads + r.head) * width;
    float delta = 0;
    for (i64 d = threadIdx.x; d < width; d += blockDim.x) delta += wide(g[here + d]) * wide(out[here + d]);
    delta = sum_of_block(delta);
    i64 const row = (r.example * s.heads + r.head) * s.queries + r.query;
    float const lse = s.lse[row];
    if (s.sink_slopes && threadIdx.x == 0) s.sink_slopes[row] = -expf(s.sinks[r.head] - lse) * delta;
    for (i64 group = s.key0 / 4 + threadIdx.x; 4 * group < s.key0 + s.keys; group += blockDim.x) {
      four_factors const keep = factors_of(s, r, group);
      for (int w = 0; w < 4; ++w) {
        i64 const j = 4 * group + w - s.key0, at = n * s.keys + j;
        if (j < 0 || j >= s.keys) continue;
        float const x = expf(adjusted(s, r, j, z[at]) - lse);
        // For a hidden key dp may be NaN. The scores of a row that sees no key are constants, so
        // their gradients are 0.
        float const slope = x == 0 || !r.sees ? 0.0f : x * (dp[at] * keep.at[w] - delta);
        float const inner = slope == 0 ? 0.0f : slope * cap_slope(s, z[at]);
        put(p[at], x * keep.at[w]);
        dp[at] = slope;
        put(ds[at], inner);
      }
    }
  }
}

// Sums ds [examples, heads, rows, keys] over the examples and over all pairs of a query and a key
// at the same distance. Adds the results to columns of sums [heads, distances]. The column of the
// pair (0, 0) is `column`.
REDCO_ENTRY void attention_distance_sums(float const* ds, float* sums, i64 examples, i64 heads, i64 rows, i64 keys,
                                         i64 distances, i64 column) {
  i64 const each = rows + keys - 1;
  for (i64 n = first_of_grid(); n < heads * each; n += size_of_grid()) {
    i64 const head = n / each, apart = n % each - (rows - 1);
    i64 const first = apart < 0 ? -apart : 0, last = rows < keys - apart ? rows : keys - apart;
    float sum = 0;
    for (i64 b = 0; b < examples; ++b)
      for (i64 i = first; i < last; ++i) sum += ds[((b * heads + head) * rows + i) * keys + i + apart];
    sums[head * distances + column + apart] += sum;
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
