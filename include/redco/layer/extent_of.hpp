#pragma once

#include <cstdint>
#include <type_traits>

namespace redco::layers {

/// A double for use as a template argument: `layer_norm<width, real{1e-6}>`. clang 14 accepts
/// doubles only inside a class.
struct real {
  double value = 0;

  constexpr operator double() const { return value; }
};

/// Returns the square root of x >= 0 by Newton's method. Used in constant expressions, because
/// std::sqrt is not constexpr with every compiler.
constexpr double square_root(double x) {
  if (x <= 0) return 0;
  double guess = x > 1 ? x : 1;
  for (double next = (guess + x / guess) / 2; next < guess; next = (guess + x / guess) / 2) guess = next;
  return guess;
}

/// Returns the standard deviation of the uniform distribution on [-1/sqrt(n), 1/sqrt(n)], where n
/// is the number of inputs of each output, times `gain`. PyTorch draws the weights of linear layers
/// from it, with gain 1.
constexpr double fan_in_deviation(std::int64_t inputs, double gain = 1) {
  return gain / square_root(3.0 * static_cast<double>(inputs));
}

}  // namespace redco::layers

namespace redco::layers::detail {

template <class T, class Config>
Config owner_of(T Config::*);

/// True if `Extent` points to a member of a class to which `Config` converts. `Config` then joins
/// the configs of several models.
template <auto Extent, class Config>
constexpr bool is_of_part() {
  if constexpr (std::is_member_pointer_v<decltype(Extent)> && !std::is_invocable_v<decltype(Extent), Config const&>)
    return std::is_convertible_v<Config const&, decltype(owner_of(Extent)) const&>;
  else return false;
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// Returns the value of a template argument `Extent` of a layer for a model's config. A literal is
/// its own value. A member pointer or a captureless callable is applied to `config`, so that one
/// layer type serves every size. A member pointer of another class is applied to the part of
/// `config` to which `config` converts.
template <auto Extent, class Config>
constexpr auto extent_of(Config const& config) {
  using extent = decltype(Extent);
  if constexpr (detail::is_of_part<Extent, Config>()) {
    return extent_of<Extent>(static_cast<decltype(detail::owner_of(Extent)) const&>(config));
  } else if constexpr (!std::is_invocable_v<extent, Config const&>) {
    return Extent;
  } else if constexpr (std::is_member_object_pointer_v<extent>) {
    return config.*Extent;
  } else if constexpr (std::is_member_function_pointer_v<extent>) {
    return (config.*Extent)();
  } else {
    return Extent(config);
  }
}

}  // namespace redco::layers
