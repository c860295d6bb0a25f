#pragma once

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

}  // namespace redco::kernel::cpu
