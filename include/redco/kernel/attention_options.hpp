#pragma once

#include <redco/layer/block_pattern.hpp>
#include <redco/random/stream.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace redco::kernel {

/// Options of an attention call. The comments use five letters for sizes: B examples, T queries, S
/// keys, H heads, and D elements per head.
struct attention_options {
  std::int64_t heads = 1;  ///< number of query heads (H) on this rank
  /// Number of key-value heads on this rank; divides `heads`. Query head h reads key-value head h /
  /// (heads / kv_heads).
  std::int64_t kv_heads = 1;
  bool causal = false;  ///< causal rule: if true, query i sees only the keys 0 to query0 + i
  /// Size of the sliding window: query i sees only the last `window` keys up to its own position
  /// query0 + i. 0: no window.
  std::int64_t window = 0;
  /// Pattern of blocks, which needs the causal rule. Query i of head h sees only keys that the
  /// pattern allows to position key0 + query0 + i of head head0 + h. By default there is no
  /// pattern. CPU kernels compute the scores of live blocks only, unless the call is `partial`.
  layers::block_pattern pattern = {};
  double scale = 0;  ///< factor of q k^T; 0 means 1 / sqrt(D)
  /// Bound of the scaled scores s, which become soft_cap * tanh(s / soft_cap) before bias and
  /// masks. 0: no bound.
  double soft_cap = 0;
  /// Mask of keys: bool [B, S], true for visible keys. If undefined, all keys are visible.
  at::Tensor key_mask = {};
  /// Position of each query in its document, int64 [B, T], if a row holds several documents; may be
  /// undefined. Query i sees no key before query0 + i - documents[b][i]. Needs the causal rule, and
  /// as many keys as queries unless the call is `partial`.
  at::Tensor documents = {};
  /// Differentiable, finite bias that is added to the scaled scores; may be undefined. It has the
  /// shape [1 or B, H, T, S], or [H, distances] for a bias given per distance. In the latter case,
  /// key j of query i gets column distance0 + j - (query0 + i).
  at::Tensor bias = {};
  std::int64_t distance0 = 0;
  /// Differentiable sinks [H], one score without a value for each head; may be undefined. The
  /// output of a query is multiplied by sigmoid(log-sum-exp of its scores - sink).
  at::Tensor sinks = {};
  /// Probability of zeroing an element of the softmax. If it is not 0, `key` must be set.
  double dropout = 0;
  /// Random stream for the dropout of this call. The 32-bit word for query i, key j, head h and
  /// example b has the coordinates (row0 + b, head0 + h, key0 + query0 + i, key0 + j). The dropout
  /// mask is therefore independent of how examples, heads and tokens are split over ranks.
  random::stream key = {};
  std::int64_t row0 = 0;    ///< global index of example 0, for dropout
  std::int64_t head0 = 0;   ///< global index of this rank's head 0, for dropout and patterns
  std::int64_t query0 = 0;  ///< position of query 0 among the keys; S - T in decoding with a cache
  std::int64_t key0 = 0;    ///< position of key 0 in its sequence, for dropout and patterns
  /// True if the queries also see keys that the call does not have, as in ring attention. A query
  /// that sees no key of the call gets 0 and the log-sum-exp -infinity, unless `blind` has it.
  bool partial = false;
  /// Queries of a partial call that see no key of any call, bool [B, H, T]; may be undefined. Keys
  /// that their position allows get equal weights.
  at::Tensor blind = {};

  /// Returns the factor of q k^T for heads of `d` elements: `scale`, or 1 / sqrt(d) if `scale` is
  /// 0.
  double scale_of(std::int64_t d) const { return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(d)); }

  /// Returns the dropout threshold. An element of the softmax is zeroed if its random 32-bit word
  /// is below the threshold.
  std::uint32_t dropped_below() const {
    return static_cast<std::uint32_t>(std::min(std::ldexp(dropout, 32), 4294967295.0));
  }
};

}  // namespace redco::kernel
