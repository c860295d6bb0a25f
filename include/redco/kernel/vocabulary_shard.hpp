#pragma once

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel {

/// A rank's rows of a language-model head (the output projection). Each row belongs to one
/// vocabulary entry. All ranks have the same number of rows, because the last rows are padded.
struct vocabulary_shard {
  at::Tensor weight;     ///< weight [rows, d] of the head
  at::Tensor bias = {};  ///< bias [rows] of the head; may be undefined
  /// Number of entries of the whole vocabulary. Rows for later entries are padding.
  std::int64_t vocabulary = 0;
  std::int64_t first = 0;  ///< vocabulary entry of row 0 of this shard
  /// Bound of the logits z, which become soft_cap * tanh(z / soft_cap). 0: no bound.
  double soft_cap = 0;

  /// Returns the number of rows of this shard that belong to vocabulary entries; the rest is
  /// padding.
  std::int64_t valid() const { return std::clamp<std::int64_t>(vocabulary - first, 0, weight.size(0)); }

  /// Returns the logits `z` after the soft cap, as a differentiable function of `z`.
  at::Tensor capped(at::Tensor const& z) const { return soft_cap > 0 ? (z / soft_cap).tanh() * soft_cap : z; }
};

/// The targets of cross-entropy. In a row with label y, the target of entry c is the weight of y
/// times `kept` if c is y, plus the weight of c times `spread`. Rows with the label `ignored` have
/// no loss.
struct label_targets {
  std::int64_t ignored = -100;
  double kept = 1;    ///< 1 - label smoothing
  double spread = 0;  ///< label smoothing / vocabulary
  /// Weights of all entries in the type of sums; if undefined, they are 1
  at::Tensor weights = {};
  double total = 0;  ///< sum of the weights of all entries

  /// Returns the target of each row at its label, without the share that all entries have, [rows];
  /// of no meaning for ignored rows. Requires weights.
  at::Tensor own_of(at::Tensor const& labels) const {
    return weights.index_select(0, labels.masked_fill(labels.eq(ignored), 0)) * kept;
  }

  /// Returns true if the target is 1 at the label and 0 elsewhere.
  bool plain() const { return kept == 1 && !weights.defined(); }
};

}  // namespace redco::kernel
