#pragma once

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel {

/// This rank's rows of a language-model head whose rows are the vocabulary, padded to the same number on every rank.
struct vocabulary_shard {
  at::Tensor weight;            ///< [columns, d]
  at::Tensor bias = {};         ///< [columns], may be undefined
  std::int64_t vocabulary = 0;  ///< entries of the whole vocabulary; rows beyond it are padding
  std::int64_t first = 0;       ///< the entry that row 0 stands for

  /// Rows of this shard that are no padding.
  std::int64_t valid() const { return std::clamp<std::int64_t>(vocabulary - first, 0, weight.size(0)); }
};

}  // namespace redco::kernel
