#pragma once

#include <redco/shape/dtype.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace redco::safetensors::detail {

struct file_dtype_fact {
  std::string_view name;
  std::int64_t bytes;
};

/// Names and sizes in bytes of the element types of safetensors files, in the order of the
/// enumeration `file_dtype`.
inline constexpr std::array<file_dtype_fact, 16> file_dtypes{{
    {"F64", 8},
    {"F32", 4},
    {"BF16", 2},
    {"F16", 2},
    {"F8_E5M2", 1},
    {"F8_E4M3", 1},
    {"I64", 8},
    {"I32", 4},
    {"I16", 2},
    {"I8", 1},
    {"U64", 8},
    {"U32", 4},
    {"U16", 2},
    {"U8", 1},
    {"BOOL", 1},
    {"C64", 8},
}};

/// Names of element types that the safetensors format defines and redco cannot read. The error for
/// such a file says "unsupported" instead of "unknown".
inline constexpr std::array<std::string_view, 6> unsupported_dtypes{"F4",      "F6_E2M3",     "F6_E3M2",
                                                                    "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"};

}  // namespace redco::safetensors::detail

namespace redco::safetensors {

/// A type of tensor elements in safetensors files. Has more values than `dtype`, the types of a
/// model's parameters, because a file from outside may hold more types.
enum class file_dtype : std::uint8_t {
  f64,
  f32,
  bf16,
  f16,
  f8_e5m2,
  f8_e4m3,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  c64
};

/// Returns the size in bytes of one element of this type.
constexpr std::int64_t size_of(file_dtype type) { return detail::file_dtypes[static_cast<std::size_t>(type)].bytes; }

/// Returns the name of the element type as written in safetensors files: "F32", "BF16", ...
constexpr std::string_view name_of(file_dtype type) { return detail::file_dtypes[static_cast<std::size_t>(type)].name; }

/// Returns the element type with exactly this name in safetensors files, such as "F32", or nullopt
/// if redco cannot read the type.
constexpr std::optional<file_dtype> file_dtype_of(std::string_view name) {
  for (std::size_t i = 0; i < detail::file_dtypes.size(); ++i) {
    if (detail::file_dtypes[i].name == name) return static_cast<file_dtype>(i);
  }
  return std::nullopt;
}

/// Returns the element type in safetensors files for a dtype of model parameters.
constexpr file_dtype file_dtype_of(dtype type) {
  using enum file_dtype;
  // In the order of `dtype`.
  constexpr std::array<file_dtype, 8> types{f64, f32, bf16, f16, i64, i32, u8, boolean};
  return types[static_cast<std::size_t>(type)];
}

/// Returns true if the element type is a real floating-point type, and false for integer and
/// complex types.
constexpr bool floating(file_dtype type) { return type <= file_dtype::f8_e4m3; }

}  // namespace redco::safetensors
