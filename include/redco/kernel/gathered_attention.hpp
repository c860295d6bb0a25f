#pragma once

#include <redco/kernel/attention_options.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Keys and values in a cache that several rows share, in any order. Key j of row r is row
/// places[r][j] of both tensors.
struct gathered_keys {
  at::Tensor keys, values;  ///< [entries, Hkv D], f64, f32 or bf16; rows may be strided
  at::Tensor places;        ///< int32 [R, S]; rows may be strided
};

/// Computes attention of few queries q [R, T, H D] to cached keys, for decoding. A bias must be by
/// distance; the key mask is [R, S]; dropout is not supported. Not differentiable.
///
/// Memory: one row of scores per head and thread. On a CUDA device each row's keys and values are
/// first copied to a contiguous tensor. Throws `error` with exit code 70 if shapes or dtypes do not
/// fit.
at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen, attention_options const& options);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/gathered_attention.inl.hpp>
#endif
