#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Computes self-attention, softmax(scale q k^T + bias) v, of one packed tensor qkv [B, T, (H + 2
/// Hkv) D]. A soft cap bounds scale q k^T before the bias is added. The columns are H query heads,
/// Hkv key heads and Hkv value heads, of D elements each.
/// Returns a contiguous tensor [B, T, H D]. A query whose keys are all masked gets the mean of the
/// values that the causal rule and the pattern allow.
///
/// Autograd saves qkv, the result, the log-sum-exp [B, H, T], and bias, sinks and mask if given.
/// Throws `error` with exit code 70 for wrong shapes, dtypes or devices. Memory: README of kernel/.
at::Tensor self_attention(at::Tensor const& qkv, attention_options const& options);

/// Computes attention of queries q [B, T, H D] to keys k and values v [B, S, Hkv D], for
/// cross-attention and for decoding with a cache. For a cache, k and v are views of it and query0 =
/// S - T. Returns a contiguous tensor [B, T, H D].
///
/// Autograd saves q, k, v, the result, the log-sum-exp [B, H, T], and bias, sinks and mask if
/// given. Precision, errors, and results of masked queries are those of self_attention.
at::Tensor cross_attention(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                           attention_options const& options);

/// Keys and values in a cache that several rows share, in any order. Key j of row r is in row
/// indices[r][j] of the tensors `keys` and `values`.
struct gathered_keys {
  /// Cached keys and values: [entries, Hkv D], f64, f32 or bf16. Rows may be strided.
  at::Tensor keys, values;
  /// Row indices into `keys` and `values`: int32 [R, S]. Row r of q attends to the cached rows
  /// indices[r, 0] to indices[r, S - 1]. The last dimension of `indices` is contiguous.
  at::Tensor indices;
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
#include <redco/kernel/attention.inl.hpp>
#endif
