#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/shape/dtype.hpp>

namespace redco::tensors {

/// Returns the at::ScalarType that corresponds to a redco::dtype.
inline at::ScalarType scalar_type_of(dtype type) {
  switch (type) {
    case dtype::f64: return at::kDouble;
    case dtype::f32: return at::kFloat;
    case dtype::bf16: return at::kBFloat16;
    case dtype::f16: return at::kHalf;
    case dtype::i64: return at::kLong;
    case dtype::i32: return at::kInt;
    case dtype::u8: return at::kByte;
    case dtype::boolean: return at::kBool;
  }
  return at::kFloat;
}

}  // namespace redco::tensors
