#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// The largest logits of each row, and `log_sum`, which turns them into log-probabilities: log p =
/// logits - log_sum.
struct largest_logits {
  /// Largest logits of each row, f64 [N, k], in descending order. NaN comes first.
  at::Tensor logits;
  /// Vocabulary entries of these logits, int64 [N, k]. Of equal logits, the lower entry comes
  /// first.
  at::Tensor entries;
  at::Tensor log_sum;  ///< log of the sum of exp(logit) over the vocabulary, per row: f64 [N]
};

/// Returns the k largest logits of each row of hidden [N, d] x weight^T + bias, after the head's
/// soft cap, equal on all ranks.
/// All ranks must call it. Computes the logits of a few thousand columns at a time. Their
/// exponentials are summed in f32 (f64 for f64), and these sums are added in f64. Communicates one
/// all-gather of [N, 2 k + 2] elements.
///
/// Not differentiable. Throws c10::Error (exit code 70) unless 1 <= k <= vocabulary.
largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k, comm::group& ranks);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/top_entries.inl.hpp>
#endif
