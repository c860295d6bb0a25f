#pragma once

#include <redco/tensor/kernel_source.hpp>

namespace redco::kernel::cuda {

/// Keyed dropout: the words of random/philox.hpp, a block of four for each thread at a time.
inline constexpr kernel_source dropout_source{"dropout", R"cuda(
struct four_words {
  u32 at[4];
};

// Philox4x32-10 of Salmon, Moraes, Dror and Shaw (SC 2011).
__device__ inline four_words philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
  for (int round = 0; round < 10; ++round) {
    u64 const a = static_cast<u64>(0xD2511F53u) * c0, b = static_cast<u64>(0xCD9E8D57u) * c2;
    c0 = static_cast<u32>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<u32>(b);
    c2 = static_cast<u32>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<u32>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

struct dropout_key {
  u32 k0, k1, threshold;
  float scale;
  i64 row0, position0, feature0;
};

// x is [rows, positions, features]; words below the threshold drop.
REDCO_ENTRY void dropout_rows(element const* x, element* y, i64 rows, i64 positions, i64 features, dropout_key key) {
  i64 const first = key.feature0 / 4, each = (key.feature0 + features - 1) / 4 - first + 1;
  for (i64 i = first_of_grid(); i < rows * positions * each; i += size_of_grid()) {
    i64 const place = i / each, block = first + i % each;
    four_words const words =
        philox(static_cast<u32>(block), static_cast<u32>(key.position0 + place % positions),
               static_cast<u32>(key.row0 + place / positions), 0, key.k0, key.k1);
    for (int w = 0; w < 4; ++w) {
      i64 const f = 4 * block + w - key.feature0;
      if (f < 0 || f >= features) continue;
      i64 const at = place * features + f;
      put(y[at], words.at[w] < key.threshold ? 0.0f : wide(x[at]) * key.scale);
    }
  }
}
)cuda"};

}  // namespace redco::kernel::cuda
