#pragma once

#include <redco/nn/detail/count_labels.hpp>
#include <redco/nn/logits.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/language_head.hpp>

#include <cstdint>

namespace redco {

/// The cross entropy of int64 labels [B, T] (-100: ignored) under a language model's logits: the sum over the labels
/// that count, and their number. The logits are never all in memory at once. Label t belongs to position t: shift beforehand.
/// Errors: exit code 65 with the example whose label is outside the vocabulary.
inline mean cross_entropy(logits const& l, at::Tensor const& labels) {
  double const count = detail::count_labels(labels, l.vocabulary);
  auto const loss =
      kernel::cross_entropy(l.hidden.local().flatten(0, -2), {l.weight, l.bias, l.vocabulary, l.first_row},
                            labels.flatten(), *l.tp, {.chunk_rows = loss_chunk_rows(l.vocabulary)});
  return {loss.sum, count};
}

/// The cross entropy of int64 labels [N...] (-100: ignored) under unsharded logits [N..., classes]. Errors: exit code 65 with
/// the example whose label is none of the classes.
inline mean cross_entropy(at::Tensor const& whole_logits, at::Tensor const& labels) {
  double const count = detail::count_labels(labels, whole_logits.size(-1));
  at::Tensor const sum = at::cross_entropy_loss(whole_logits.flatten(0, -2), labels.flatten().to(whole_logits.device()),
                                                {}, at::Reduction::Sum);
  return {sum, count};
}

}  // namespace redco
