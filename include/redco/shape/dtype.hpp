#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>

namespace redco {

/// Element types of tensors in plans, in memory and in files.
enum class dtype : std::uint8_t { f64, f32, bf16, f16, i64, i32, u8, boolean };

}  // namespace redco

namespace redco::shape {

/// Returns the number of bytes of one element of this type.
constexpr std::int64_t size_of(dtype type) {
  switch (type) {
    case dtype::f64:
    case dtype::i64: return 8;
    case dtype::f32:
    case dtype::i32: return 4;
    case dtype::bf16:
    case dtype::f16: return 2;
    case dtype::u8:
    case dtype::boolean: return 1;
  }
  return 0;
}

inline constexpr auto dtype_texts = meta::enum_texts<dtype>({
    {dtype::f64, "f64"},
    {dtype::f32, "f32"},
    {dtype::bf16, "bf16"},
    {dtype::f16, "f16"},
    {dtype::i64, "i64"},
    {dtype::i32, "i32"},
    {dtype::u8, "u8"},
    {dtype::boolean, "bool"},
});

}  // namespace redco::shape

namespace redco {

/// Returns the name of an element type as options, reports and logs show it: "f32", "bf16", ...
constexpr std::string_view name_of(dtype type) { return shape::dtype_texts.text_of(type); }

}  // namespace redco
