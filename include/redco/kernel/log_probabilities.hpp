#pragma once

#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns the log-probability of each label [N] under the logits hidden [N, d] x weight^T + bias:
/// [N] in f32, or in f64 for f64 inputs, equal on all ranks. It is 0 for ignored labels. The
/// columns of the logits are split over `ranks`. All ranks must call it, and `ranks` must outlive
/// the autograd graph. The gradient of `hidden` is a pending sum over ranks, so `hidden` must be
/// `entered`.
///
/// Computes chunk_rows rows of logits at a time, and again in backward. The README of kernel/ lists
/// memory and messages. Throws the errors of `cross_entropy`.
at::Tensor log_probabilities(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                             comm::group& ranks, cross_entropy_options const& options = {});

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/log_probabilities.inl.hpp>
#endif
