#pragma once

#include <redco/tensor/torch.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace redco::update::detail {

// Each kernel of this folder has two variants: one element at a time for any CPU, and eight f32 at
// a time for AVX2 with FMA. (AVX512 gains nothing, because memory is the limit.) Results must not
// depend on the variant, because they would then depend on the partition of the buffer.
//
// Both variants therefore do the same IEEE operations in the same order. Each product that is added
// to a sum is an explicit fused multiply-add; the compiler has nothing left to contract.

#if defined(__x86_64__)
inline bool has_avx2() {
  static bool const has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

[[gnu::target("avx2,fma"), gnu::always_inline]] inline __m256 load_wide(float const* from) {
  return _mm256_loadu_ps(from);
}

[[gnu::target("avx2,fma"), gnu::always_inline]] inline __m256 load_wide(c10::BFloat16 const* from) {
  __m128i const bits = _mm_loadu_si128(reinterpret_cast<__m128i const*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

/// Rounds eight f32 values to bf16, to nearest even, and stores them at `to`. A NaN is stored with
/// the same bits as c10::BFloat16 gives it.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void store_wide(c10::BFloat16* to, __m256 x) {
  __m256i const bits = _mm256_castps_si256(x);
  __m256i const odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  __m256i const half = _mm256_add_epi32(_mm256_set1_epi32(0x7FFF), odd);
  __m256i const rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
  __m256i const nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  __m256i const words = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7FC0), nan);
  __m256i const packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
}
#else
inline bool has_avx2() { return false; }
#endif

}  // namespace redco::update::detail
