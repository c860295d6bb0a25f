#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/tensor/multiplies_bf16.hpp>

namespace redco {

/// bf16 where the CPU has instructions that multiply it, else f32.
inline dtype fastest_dtype() {
  return multiplies_bf16() ? dtype::bf16 : dtype::f32;
}

}  // namespace redco
