#pragma once

#include <redco/random/stream.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace redco::kernel {

/// Options of an attention call. B is the number of examples, T of queries, S of keys, H of heads,
/// D of elements per head.
struct attention_options {
  std::int64_t heads = 1;  ///< number of query heads (H) on this rank
  /// Number of key-value heads on this rank; divides `heads`. Query head h reads key-value head h /
  /// (heads / kv_heads).
  std::int64_t kv_heads = 1;
  bool causal = false;  ///< true: query i sees only the keys 0 ... query0 + i
  /// Number of latest keys that a query sees, up to and including position query0 + i; 0: no limit.
  std::int64_t window = 0;
  double scale = 0;          ///< factor of q k^T; 0 means 1 / sqrt(D)
  at::Tensor key_mask = {};  ///< bool [B, S], true for visible keys; undefined: all
  at::Tensor bias =
      /// Differentiable, finite bias added to the scaled scores; may be undefined. Shape [1 or B,
      /// H, T, S], or [H, distances]: key j of query i gets column distance0 + j - (query0 + i).
      {};
  std::int64_t distance0 = 0;
  double dropout = 0;  ///< probability of zeroing an attention probability; needs `key`
  random::stream key =
      /// Random stream of this call. The word of query i, key j, head h, example b has the
      /// coordinates (row0 + b, head0 + h, query0 + i, j). The dropout mask is therefore
      /// independent of how examples and heads are split over ranks.
      {};
  std::int64_t row0 = 0;    ///< global index of example 0
  std::int64_t head0 = 0;   ///< global index of head 0
  std::int64_t query0 = 0;  ///< position of query 0 among the keys (decoding: S - T)

  /// Returns the factor of q k^T for heads of `d` elements.
  double scale_of(std::int64_t d) const { return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(d)); }

  /// Returns the dropout threshold: an attention probability is zeroed if its random 32-bit word is
  /// less.
  std::uint32_t dropped_below() const {
    return static_cast<std::uint32_t>(std::min(std::ldexp(dropout, 32), 4294967295.0));
  }
};

}  // namespace redco::kernel
