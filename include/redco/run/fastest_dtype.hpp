#pragma once

#include <redco/shape/dtype.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace redco {

/// bf16 where the CPU has instructions that multiply it (AMX-BF16, AVX512-BF16), else f32.
inline dtype fastest_dtype() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool const amx_bf16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 22)) != 0;
  bool const avx512_bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5)) != 0;
  return amx_bf16 || avx512_bf16 ? dtype::bf16 : dtype::f32;
#else
  return dtype::f32;
#endif
}

}  // namespace redco
