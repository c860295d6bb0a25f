#pragma once

#include <redco/kernel/attention_options.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Attention of a sequence to itself from one packed tensor qkv [B, T, (H + 2 Hkv) D]: the columns of all query heads,
/// of all key heads, of all value heads, as one fused linear layer gives them. The result is [B, T, H D], contiguous:
/// softmax(scale q k^T + bias) v, masked and with keyed dropout as the options say. A query that may see no key by the
/// mask takes the mean of the values that the causal rule allows. Softmax is made in f32 (f64 for f64).
///
/// The gradient of qkv is one packed tensor. Saved for backward: qkv, out, the log-sum-exp [B, H, T] in f32 (f64 for
/// f64), and bias and mask where given; probabilities are made again. Scratch per thread: two blocks of scores
/// (query_rows(T) x T each). Under create_graph backward is made of ATen operators and holds [B, H, T, S]. Throws
/// redco::error (70) where shapes, types and devices do not fit.
///
/// On a CUDA device bf16 without bias, mask, window and dropout is what ATen's flash operators compute, which add the gradient
/// of q in any order unless ATen is told to be deterministic. All else is made in blocks of queries: of scores at most two of
/// 64 MiB in f32, and copies in bf16 (single queries whose scores are larger are a block), and of some examples the gradients
/// of k and v in f32.
at::Tensor self_attention(at::Tensor const& qkv, attention_options const& options);

/// Attention of q [B, T, H D] to k and v [B, S, Hkv D], of any length: cross-attention, and decoding with a cache (T =
/// 1, query0 = S - T, k and v views of the cache). Otherwise as self_attention. Saved for backward: q, k, v, out,
/// log-sum-exp [B, H, T], and bias and mask where given.
at::Tensor cross_attention(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                           attention_options const& options);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/attention.inl.hpp>
#endif
