#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/shape/multiplies_bf16.hpp>

namespace redco {

/// Returns bf16 if the CPU has instructions that multiply bf16, otherwise f32.
inline dtype fastest_dtype(bf16_instructions cpu = cpu_bf16_instructions()) {
  return cpu == bf16_instructions::none ? dtype::f32 : dtype::bf16;
}

}  // namespace redco
