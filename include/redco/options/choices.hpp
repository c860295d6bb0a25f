#pragma once

#include <redco/shape/dtype.hpp>

#include <array>
#include <concepts>
#include <string_view>

namespace redco::options {

/// The values of an enumeration that an option may take: specialise it with an array for your own,
/// `template <> inline constexpr std::array redco::options::choices<color> = {color::red, color::blue};`, and give
/// their names with a function `std::string_view name_of(color)` in the namespace of the enumeration.
template <class Enum>
inline constexpr std::array<Enum, 0> choices{};

/// Types in which a model computes. f16 is none of them: its gradients underflow.
template <>
inline constexpr std::array<dtype, 3> choices<dtype> = {dtype::f32, dtype::bf16, dtype::f64};

/// Satisfied by enumerations that can be an option.
template <class T>
concept choice = choices<T>
.size() > 0 && requires(T value) {
  { name_of(value) } -> std::convertible_to<std::string_view>;
};

}  // namespace redco::options
