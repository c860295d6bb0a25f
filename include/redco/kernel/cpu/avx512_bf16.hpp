#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

/// On a function that multiplies bf16 with AVX512; only for processors of which has_avx512_bf16() says so.
#define REDCO_AVX512_BF16 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")]]
#endif

namespace redco::kernel::cpu {

/// Whether this processor has AVX512-bf16.
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

}  // namespace redco::kernel::cpu
