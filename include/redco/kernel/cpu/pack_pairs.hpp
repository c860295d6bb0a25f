#pragma once

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>

/// Attribute of functions that multiply bf16 with AVX512. Call them only if has_avx512_bf16()
/// returns true.
#define REDCO_AVX512_BF16 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")]]
#endif

namespace redco::kernel::cpu {

/// Returns true if this CPU has AVX512-bf16 instructions.
inline bool has_avx512_bf16() {
#if defined(__x86_64__)
  static bool const has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }();
  return has;
#else
  return false;
#endif
}

/// A row-major matrix operand of a product. If `transposed`, the operand is the transpose of the
/// stored matrix.
template <class T>
struct matrix {
  T const* data;
  std::int64_t stride;
  bool transposed = false;

  /// `from_row` returns the operand without its first `i` rows, `from_column` without its first `i`
  /// columns.
  matrix from_row(std::int64_t i) const { return {data + i * (transposed ? 1 : stride), stride, transposed}; }
  matrix from_column(std::int64_t i) const { return {data + i * (transposed ? stride : 1), stride, transposed}; }
};

/// A pair of bf16 elements that are neighbours along the inner dimension of a product, in memory
/// order. If that dimension is odd, the second element of the last pair is 0.
using bf16_pair = std::uint32_t;

inline bf16_pair pair_at(at::BFloat16 const* first) {
  bf16_pair pair;
  std::memcpy(&pair, first, sizeof pair);
  return pair;
}

/// Packs `count` <= Width columns of b [k, n], from column number `column` on, into a panel `to`.
/// The elements in rows 2 p and 2 p + 1 of panel column j become the pair to[p][j]. Columns from
/// `count` on are 0.
template <std::int64_t Width>
void pack_pairs_plain(matrix<at::BFloat16> b, std::int64_t k, std::int64_t column, std::int64_t count, bf16_pair* to) {
  auto const at = [&](std::int64_t row, std::int64_t j) -> bf16_pair {
    return b.transposed ? b.data[(column + j) * b.stride + row].x : b.data[row * b.stride + column + j].x;
  };
  for (std::int64_t row = 0; row < k; row += 2, to += Width) {
    for (std::int64_t j = 0; j < count; ++j) to[j] = at(row, j) | (row + 1 < k ? at(row + 1, j) << 16 : 0);
    std::fill(to + count, to + Width, bf16_pair{0});
  }
}

#if defined(__x86_64__)

/// Transposes a block of 16 columns by up to 16 pairs of bf16, read from a transposed matrix, in
/// AVX512 registers.
REDCO_AVX512_BF16 inline void transpose_pairs(at::BFloat16 const* from, std::int64_t stride, std::int64_t columns,
                                              std::int64_t pairs, bf16_pair* to, std::int64_t width) {
  auto const inside = static_cast<__mmask16>((1u << pairs) - 1);
  // Uses masked intrinsics: for the unmasked ones, g++ warns about its own header.
  __mmask16 const all = 0xffff;
  __mmask8 const every = 0xff;
  __m512i x[16], y[16];
  for (int j = 0; j < 16; ++j)
    x[j] = j < columns ? _mm512_maskz_loadu_epi32(inside, from + j * stride) : _mm512_setzero_si512();
  for (int j = 0; j < 16; j += 2) {
    y[j] = _mm512_maskz_unpacklo_epi32(all, x[j], x[j + 1]);
    y[j + 1] = _mm512_maskz_unpackhi_epi32(all, x[j], x[j + 1]);
  }
  for (int j = 0; j < 16; j += 4) {
    x[j] = _mm512_maskz_unpacklo_epi64(every, y[j], y[j + 2]);
    x[j + 1] = _mm512_maskz_unpackhi_epi64(every, y[j], y[j + 2]);
    x[j + 2] = _mm512_maskz_unpacklo_epi64(every, y[j + 1], y[j + 3]);
    x[j + 3] = _mm512_maskz_unpackhi_epi64(every, y[j + 1], y[j + 3]);
  }
  // x[4 c + j] holds the pairs j, j + 4, j + 8, j + 12 of the columns 4 c ... 4 c + 3.
  for (int j = 0; j < 4; ++j) {
    __m512i const a = _mm512_maskz_shuffle_i32x4(all, x[j], x[j + 4], 0x88),
                  b = _mm512_maskz_shuffle_i32x4(all, x[j], x[j + 4], 0xdd),
                  c = _mm512_maskz_shuffle_i32x4(all, x[j + 8], x[j + 12], 0x88),
                  d = _mm512_maskz_shuffle_i32x4(all, x[j + 8], x[j + 12], 0xdd);
    y[j] = _mm512_maskz_shuffle_i32x4(all, a, c, 0x88);
    y[j + 4] = _mm512_maskz_shuffle_i32x4(all, b, d, 0x88);
    y[j + 8] = _mm512_maskz_shuffle_i32x4(all, a, c, 0xdd);
    y[j + 12] = _mm512_maskz_shuffle_i32x4(all, b, d, 0xdd);
  }
  for (std::int64_t p = 0; p < pairs; ++p) _mm512_storeu_si512(to + p * width, y[p]);
}

/// Packs pairs of bf16 as pack_pairs_plain does, but with AVX512. Supports panels of 32 columns,
/// and of 24 columns if b is not transposed.
template <std::int64_t Width>
REDCO_AVX512_BF16 void pack_pairs_native(matrix<at::BFloat16> b, std::int64_t k, std::int64_t column,
                                         std::int64_t count, bf16_pair* to) {
  if (b.transposed) {
    std::int64_t const whole = k / 2;
    for (std::int64_t j = 0; j < Width; j += 16) {
      at::BFloat16 const* const from = b.data + (column + j) * b.stride;
      for (std::int64_t p = 0; p < whole; p += 16)
        transpose_pairs(from + 2 * p, b.stride, count - j, std::min<std::int64_t>(16, whole - p), to + p * Width + j,
                        Width);
    }
    if (k % 2 != 0)
      for (std::int64_t j = 0; j < Width; ++j)
        to[whole * Width + j] = j < count ? b.data[(column + j) * b.stride + k - 1].x : 0;
    return;
  }
  alignas(64) std::uint16_t order[32];
  for (std::uint16_t j = 0; j < 16; ++j) {
    order[2 * j] = j;
    order[2 * j + 1] = static_cast<std::uint16_t>(32 + j);
  }
  __m512i const low = _mm512_load_si512(order), high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  auto const inside = static_cast<__mmask32>((std::uint64_t{1} << count) - 1);
  for (std::int64_t row = 0; row < k; row += 2, to += Width) {
    at::BFloat16 const* const from = b.data + row * b.stride + column;
    __m512i const first = _mm512_maskz_loadu_epi16(inside, from);
    __m512i const second = row + 1 < k ? _mm512_maskz_loadu_epi16(inside, from + b.stride) : _mm512_setzero_si512();
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(first, low, second));
    _mm512_mask_storeu_epi32(to + 16, Width == 32 ? 0xffff : 0x00ff, _mm512_permutex2var_epi16(first, high, second));
  }
}

#endif

}  // namespace redco::kernel::cpu
