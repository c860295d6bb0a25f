#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/shape/multiplies_bf16.hpp>

namespace redco::options {

/// Returns bf16 if the CPU has instructions that multiply bf16, otherwise f32.
inline dtype fastest_dtype(shape::bf16_instructions cpu = shape::cpu_bf16_instructions()) {
  return cpu == shape::bf16_instructions::none ? dtype::f32 : dtype::bf16;
}

}  // namespace redco::options
