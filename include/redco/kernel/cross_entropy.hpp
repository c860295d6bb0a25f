#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// A loss summed over the rows that are not ignored, and the number of these rows.
struct vocabulary_loss {
  at::Tensor sum;  ///< scalar, f32 (f64 for f64), equal on all ranks
  std::int64_t count = 0;
};

/// Options of cross_entropy.
struct cross_entropy_options {
  std::int64_t ignored = -100;     ///< label of rows that are left out
  std::int64_t chunk_rows = 1024;  ///< number of rows whose logits are in memory at once
};

/// Returns the summed cross-entropy of labels [N] for the logits hidden [N, d] x weight^T + bias,
/// whose columns are split over `ranks`. All ranks must call it together, and `ranks` must outlive
/// the autograd graph. `hidden` must be an entered tensor, because its gradient is a pending sum
/// over ranks.
///
/// Logits are computed for chunk_rows rows at a time. The same pass computes the gradients, which
/// autograd saves; README.md lists memory and messages. Throws `error` with exit code 65 for a
/// label outside the vocabulary, 70 if shapes or dtypes do not fit.
vocabulary_loss cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                              group& ranks, cross_entropy_options const& options = {});

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/cross_entropy.inl.hpp>
#endif
