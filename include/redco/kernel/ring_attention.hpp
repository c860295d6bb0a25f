#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/sequence_part.hpp>

namespace redco::kernel {

/// Computes self-attention of whole sequences whose parts are on the ranks of a group (Liu et al.
/// 2023). `qkv` [B, t, (H + 2 Hkv) D] has the tokens of `part`; returns their results [B, t, H D].
/// Keys and values go round the ranks: each computes with a block while it sends it to the next.
/// With the causal rule, all have equal work.
///
/// Autograd saves qkv, the result and the log-sum-exp [B, H, t]; backward sends keys, values and
/// their gradients round the ring. Throws `error` with exit code 64 for a key mask, documents,
/// dropout, a pattern of blocks, sinks and second derivatives. Supports no bias.
at::Tensor ring_attention(at::Tensor const& qkv, attention_options const& options, comm::group& ranks,
                          shape::sequence_part const& part);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/ring_attention.inl.hpp>
#endif
