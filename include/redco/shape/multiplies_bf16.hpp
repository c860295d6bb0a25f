#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace redco::shape {

/// Instruction sets of CPUs for bf16 matrix products, the fastest first.
enum class bf16_instructions : unsigned char { amx, avx512, none };

/// Returns the fastest instruction set for bf16 matrix products that this CPU has.
inline bf16_instructions cpu_bf16_instructions() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 22)) != 0) return bf16_instructions::amx;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5)) != 0) return bf16_instructions::avx512;
#endif
  return bf16_instructions::none;
}

/// Returns true if this CPU has instructions for bf16 matrix products, so that bf16 is faster than
/// f32.
inline bool multiplies_bf16() { return cpu_bf16_instructions() != bf16_instructions::none; }

}  // namespace redco::shape
