#pragma once

#include <redco/safetensors/file_dtype.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace redco::ckpt::detail {

/// Scalar types of libtorch, indexed by the values of `safetensors::file_dtype`.
inline constexpr std::array<at::ScalarType, 16> scalar_types{
    at::kDouble, at::kFloat, at::kBFloat16, at::kHalf,        at::kFloat8_e5m2, at::kFloat8_e4m3fn,
    at::kLong,   at::kInt,   at::kShort,    at::kChar,        at::kUInt64,      at::kUInt32,
    at::kUInt16, at::kByte,  at::kBool,     at::kComplexFloat};

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

/// Returns libtorch's scalar type for the element type `type` of a safetensors file.
constexpr at::ScalarType scalar_type_of(safetensors::file_dtype type) {
  return detail::scalar_types[static_cast<std::size_t>(type)];
}

/// Returns the element type of safetensors files for libtorch's scalar type `type`. Throws `error`
/// with exit code 70 for types that safetensors lacks (quantised, complex128).
inline safetensors::file_dtype file_dtype_of(at::ScalarType type) {
  for (std::size_t i = 0; i < detail::scalar_types.size(); ++i) {
    if (detail::scalar_types[i] == type) return static_cast<safetensors::file_dtype>(i);
  }
  throw error(exit_code::internal, std::string("a tensor of ") + c10::toString(type) +
                                       " cannot be saved: safetensors has no such type. Convert it first.");
}

}  // namespace redco::ckpt
