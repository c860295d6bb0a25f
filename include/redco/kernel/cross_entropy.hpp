#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// The result of cross_entropy: the loss summed over the rows that are not ignored, and the number
/// of these rows.
struct vocabulary_loss {
  at::Tensor sum;  ///< summed loss, equal on all ranks: a scalar in f32, or in f64 for f64 inputs
  std::int64_t count = 0;
};

/// Options of cross_entropy.
struct cross_entropy_options {
  std::int64_t ignored = -100;     ///< label that marks rows to leave out of the loss
  std::int64_t chunk_rows = 1024;  ///< number of rows whose logits are in memory at once
  /// Share of each target that is spread over all entries, in [0, 1]
  double smoothing = 0;
  at::Tensor weights = {};  ///< weight of each entry, [vocabulary]; if undefined, all are 1
};

/// Returns the sum of torch's cross_entropy of labels [N] for the logits hidden [N, d] x weight^T +
/// bias, which the head may bound by a soft cap. The columns of the logits are split over `ranks`.
/// All ranks must call it, and `ranks` must outlive the graph. The gradient of `hidden` is a
/// pending sum, so `hidden` must be `entered`.
///
/// Computes chunk_rows rows at a time, together with the gradients, which autograd saves. The
/// README of kernel/ lists memory and messages. Throws `error` with exit code 65 for a label
/// outside the vocabulary, 70 if shapes or dtypes do not fit.
vocabulary_loss cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                              comm::group& ranks, cross_entropy_options const& options = {});

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/cross_entropy.inl.hpp>
#endif
