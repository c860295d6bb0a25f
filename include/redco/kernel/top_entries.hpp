#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// The largest of each row's logits and what makes probabilities of them: log p = logits - log_sum.
struct largest_logits {
  at::Tensor logits;   ///< f64 [N, k], the largest first; a NaN is larger than all
  at::Tensor entries;  ///< int64 [N, k]; of equal logits the lower entry comes first
  at::Tensor log_sum;  ///< f64 [N]: log of the sum of exp(logit) over the whole vocabulary
};

/// The k largest logits hidden [N, d] x weight^T + bias of each row, equal on all ranks. Logits exist for a few thousand
/// columns at a time; sums are made in f32 within those (f64 for f64) and in f64 over them. One all-gather of
/// [N, 2 k + 2]. Not differentiable. Requires 1 <= k <= vocabulary (else exit code 70).
largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k, group& ranks);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/top_entries.inl.hpp>
#endif
