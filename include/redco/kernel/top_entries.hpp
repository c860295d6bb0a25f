#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// The largest logits of each row, and the term that makes them log-probabilities: log p = logits -
/// log_sum.
struct largest_logits {
  at::Tensor logits;   ///< f64 [N, k], in descending order; NaN comes first
  at::Tensor entries;  ///< int64 [N, k]; of equal logits the lower entry comes first
  at::Tensor log_sum;  ///< f64 [N]: log of the sum of exp(logit) over the vocabulary
};

/// Returns the k largest logits of each row of hidden [N, d] x weight^T + bias, equal on all ranks.
/// All ranks must call it. Computes the logits of a few thousand columns at a time, sums them in
/// f32 (f64 for f64), and adds these sums in f64. Communicates one all-gather of [N, 2 k + 2]
/// elements.
///
/// Not differentiable. Asserts 1 <= k <= vocabulary (exit code 70).
largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k, group& ranks);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/top_entries.inl.hpp>
#endif
