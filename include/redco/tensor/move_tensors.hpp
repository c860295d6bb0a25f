#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/meta/aggregate.hpp>
#include <redco/meta/field_count.hpp>

#include <tuple>
#include <type_traits>

namespace redco {

namespace detail {

/// Converts to a base of T alone: what an aggregate of T's kind begins with where it inherits.
template <class T>
struct any_base {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};

/// A struct whose members can be visited: at most 32, none inherited.
template <class T>
constexpr bool is_plain_struct() {
  if constexpr (!meta::aggregate<T>) {
    return false;
  } else if constexpr (requires { T{any_base<T>{}}; }) {
    return false;
  } else {
    return meta::field_count<T> <= 32;
  }
}

}  // namespace detail

/// Takes to a device what `x` has of tensors: itself, members of structs, elements of containers, pairs, tuples and optionals.
/// What is const, what inherits, and classes with constructors stay as they are.
template <class T>
void move_tensors(T& x, at::Device device) {
  [[maybe_unused]] auto const each = [device](auto&... parts) { (move_tensors(parts, device), ...); };
  if constexpr (std::is_const_v<T> || std::is_scalar_v<T>) {
    return;
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    if (x.defined()) x = x.to(device);
  } else if constexpr (requires { x.has_value(), *x; }) {
    if (x.has_value()) move_tensors(*x, device);
  } else if constexpr (std::is_array_v<T>) {
    for (auto& one : x) move_tensors(one, device);
  } else if constexpr (requires { x.begin(), x.end(); }) {
    if constexpr (std::is_lvalue_reference_v<decltype(*x.begin())>)
      if constexpr (!std::is_scalar_v<std::remove_cvref_t<decltype(*x.begin())>>)
        for (auto& one : x) move_tensors(one, device);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply(each, x);
  } else if constexpr (detail::is_plain_struct<T>()) {
    meta::for_each_field(x, [device](auto& member) { move_tensors(member, device); });
  }
}

}  // namespace redco
