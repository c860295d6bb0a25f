#pragma once

#include <redco/kernel/attention_options.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Keys and values that rows share and that need not lie in order: key j of row r is row places[r][j] of both.
struct gathered_keys {
  at::Tensor keys, values;  ///< [entries, Hkv D], f64, f32 or bf16; rows may lie apart
  at::Tensor places;        ///< int32 [R, S]; rows may lie apart
};

/// Attention of few queries q [R, T, H D] to keys that lie in a cache: decoding. Otherwise as cross_attention, with a bias
/// by distance only and without dropout; the key mask [R, S] is read where it is. Memory grows with neither T nor S but for
/// one row of scores per head and thread; on a CUDA device each row's keys and values are copied to one place first. Not differentiable. Throws redco::error (70) where shapes and types do not fit.
at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen, attention_options const& options);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/gathered_attention.inl.hpp>
#endif
