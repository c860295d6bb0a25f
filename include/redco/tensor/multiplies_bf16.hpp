#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace redco {

/// Whether the CPU has instructions that multiply bf16 (AMX-BF16, AVX512-BF16): there it is faster than f32.
inline bool multiplies_bf16() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool const amx_bf16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 22)) != 0;
  bool const avx512_bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5)) != 0;
  return amx_bf16 || avx512_bf16;
#else
  return false;
#endif
}

}  // namespace redco
