#pragma once

#include <redco/tensor/kernel_launcher.hpp>

namespace redco::kernel::cuda {

/// CUDA kernel of dropout with the random 32-bit words of random/philox.hpp. Each thread computes
/// four words at a time.
inline constexpr tensors::kernel_source dropout_source{"dropout", R"cuda(
struct dropout_key {
  u32 k0, k1, threshold;
  float scale;
  i64 row0, position0, feature0;
};

// Applies dropout to x [rows, positions, features]. An element becomes 0 if its random word is
// below the threshold; all other elements are multiplied by the scale.
REDCO_ENTRY void dropout_rows(element const* x, element* y, i64 rows, i64 positions, i64 features, dropout_key key) {
  i64 const first = key.feature0 / 4, each = (key.feature0 + features - 1) / 4 - first + 1;
  for (i64 i = first_of_grid(); i < rows * positions * each; i += size_of_grid()) {
    i64 const index = i / each, block = first + i % each;
    four_words const words =
        philox(static_cast<u32>(block), static_cast<u32>(key.position0 + index % positions),
               static_cast<u32>(key.row0 + index / positions), 0, key.k0, key.k1);
    for (int w = 0; w < 4; ++w) {
      i64 const f = 4 * block + w - key.feature0;
      if (f < 0 || f >= features) continue;
      i64 const at = index * features + f;
      put(y[at], words.at[w] < key.threshold ? 0.0f : wide(x[at]) * key.scale);
    }
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
