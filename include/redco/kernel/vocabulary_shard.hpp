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

  /// Returns the number of rows of this shard that belong to vocabulary entries; the rest is
  /// padding.
  std::int64_t valid() const { return std::clamp<std::int64_t>(vocabulary - first, 0, weight.size(0)); }
};

}  // namespace redco::kernel
