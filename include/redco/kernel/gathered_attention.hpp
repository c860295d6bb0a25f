#pragma once

#include <redco/kernel/attention_options.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Keys and values in a cache that several rows share, in any order. Key j of row r is in row
/// places[r][j] of the tensors `keys` and `values`.
struct gathered_keys {
  /// Cached keys and values: [entries, Hkv D], f64, f32 or bf16. Rows may be strided.
  at::Tensor keys, values;
  /// Row indices into `keys` and `values`: int32 [R, S]. Row r of q attends to the cached rows
  /// places[r, 0] to places[r, S - 1]. The last dimension of `places` is contiguous.
  at::Tensor places;
};

/// Computes attention of few queries q [R, T, H D] to cached keys, for decoding. A bias must be
/// given per distance; the key mask is [R, S]; dropout is not supported. Not differentiable.
///
/// Needs memory for one row of scores per head and thread. On a CUDA device each row's keys and
/// values are first copied to a contiguous tensor. Throws `error` with exit code 70 if shapes or
/// dtypes do not fit.
at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen, attention_options const& options);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/gathered_attention.inl.hpp>
#endif
