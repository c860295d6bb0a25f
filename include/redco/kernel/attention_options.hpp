#pragma once

#include <redco/random/stream.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace redco::kernel {

/// What attention needs to know beside its tensors. B examples, T queries, S keys, H heads, D elements per head.
struct attention_options {
  std::int64_t heads = 1;     ///< H on this rank
  std::int64_t kv_heads = 1;  ///< key-value heads on this rank; divides `heads`; head h reads h / (heads / kv_heads)
  bool causal = false;        ///< query i sees keys 0 ... query0 + i
  std::int64_t window = 0;    ///< of these only so many, its own the last; 0: all
  double scale = 0;           ///< factor on q k^T; 0 means 1 / sqrt(D)
  at::Tensor key_mask = {};   ///< bool [B, S], true where a key may be seen; undefined: every key
  at::Tensor bias =
      {};  ///< added to the scaled scores, finite, [1 or B, H, T, S], differentiable; may be undefined. Or
           ///< [H, D], by distance: key j of query i gets column distance0 + j - (query0 + i)
  std::int64_t distance0 = 0;
  double dropout = 0;  ///< probability that an attention probability becomes zero; needs `key`
  random::stream key =
      {};  ///< random numbers of this call; element (row0 + b, head0 + h, query0 + i, j) is drawn at these
           ///< coordinates, so any split of examples and heads over ranks gives the same mask
  std::int64_t row0 = 0;    ///< global index of example 0
  std::int64_t head0 = 0;   ///< global index of head 0
  std::int64_t query0 = 0;  ///< position of query 0 among the keys (decoding with a cache: S - T)

  /// What q k^T of heads of d elements is multiplied by.
  double scale_of(std::int64_t d) const { return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(d)); }

  /// Random words below this drop.
  std::uint32_t dropped_below() const {
    return static_cast<std::uint32_t>(std::min(std::ldexp(dropout, 32), 4294967295.0));
  }
};

}  // namespace redco::kernel
