#pragma once

#include <redco/shape/dtype.hpp>
#include <redco/shape/zero.hpp>

#include <array>
#include <concepts>
#include <string_view>

namespace redco::options {

/// Values of an enumeration that an option accepts. Specialise the variable for your own
/// enumeration and declare `std::string_view name_of(color)` in its namespace:
///
///   inline constexpr auto color_texts =
///       redco::meta::enum_texts<color>({{color::red, "red"}, {color::blue, "blue"}});
///   constexpr std::string_view name_of(color c) { return color_texts.text_of(c); }
///   template <>
///   inline constexpr std::array redco::options::choices<color> = color_texts.values();
template <class Enum>
inline constexpr std::array<Enum, 0> choices{};

/// Dtypes in which a model can compute, for the option --dtype. Excludes f16, whose gradients
/// underflow.
template <>
inline constexpr std::array<dtype, 3> choices<dtype> = {dtype::f32, dtype::bf16, dtype::f64};

/// Units of state that a replica keeps, for the option --zero-owner
template <>
inline constexpr std::array choices<shape::zero_owner> = shape::zero_owner_texts.values();

/// Concept of an enumeration that can be an option: `choices` lists its values and name_of()
/// returns their names.
template <class T>
concept choice = choices<T>
.size() > 0 && requires(T value) {
  { name_of(value) } -> std::convertible_to<std::string_view>;
};

}  // namespace redco::options
