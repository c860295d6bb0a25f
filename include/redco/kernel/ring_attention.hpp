#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/sequence_part.hpp>

namespace redco::kernel {

/// Computes self-attention of whole sequences whose parts are on the ranks of a group (Liu et al.
/// 2023). `qkv` [B, t, (H + 2 Hkv) D] has the tokens of `part`; returns their results [B, t, H D].
/// Keys and values go round the ranks. Options, such as key mask and documents [B, T], are those of
/// whole sequences. Supports no bias.
///
/// Autograd saves qkv, the result, the log-sum-exp [B, H, t] and sinks; backward sends keys, values
/// and their gradients round. Throws `error` with exit code 64 for second derivatives, and those of
/// self_attention.
at::Tensor ring_attention(at::Tensor const& qkv, attention_options const& options, comm::group& ranks,
                          shape::sequence_part const& part);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/ring_attention.inl.hpp>
#endif
