#pragma once

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel {

/// The rows of a language-model head that this rank holds. Rows are vocabulary entries. All ranks
/// have the same number of rows, by padding.
struct vocabulary_shard {
  at::Tensor weight;     ///< [rows, d]
  at::Tensor bias = {};  ///< [rows], may be undefined
  /// Number of entries of the whole vocabulary. Rows for later entries are padding.
  std::int64_t vocabulary = 0;
  std::int64_t first = 0;  ///< vocabulary entry of this shard's row 0

  /// Returns the number of rows of this shard that are not padding.
  std::int64_t valid() const { return std::clamp<std::int64_t>(vocabulary - first, 0, weight.size(0)); }
};

}  // namespace redco::kernel
