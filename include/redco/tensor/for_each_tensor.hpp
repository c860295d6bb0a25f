#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/meta/aggregate.hpp>
#include <redco/meta/plain_struct.hpp>

#include <tuple>
#include <type_traits>

namespace redco::tensors {

/// Calls f(at::Tensor&) for each defined tensor in `x`. `x` may be a tensor, a plain struct, a
/// container, a pair, a tuple or an optional, nested in any way. Skips const objects, classes with
/// a base class, and classes with constructors.
template <class T, class F>
void for_each_tensor(T& x, F const& f) {
  [[maybe_unused]] auto const each = [&f](auto&... parts) { (for_each_tensor(parts, f), ...); };
  if constexpr (std::is_const_v<T> || std::is_scalar_v<T>) {
    return;
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    if (x.defined()) f(x);
  } else if constexpr (requires { x.has_value(), *x; }) {
    if (x.has_value()) for_each_tensor(*x, f);
  } else if constexpr (std::is_array_v<T>) {
    for (auto& one : x) for_each_tensor(one, f);
  } else if constexpr (requires { x.begin(), x.end(); }) {
    if constexpr (std::is_lvalue_reference_v<decltype(*x.begin())>)
      if constexpr (!std::is_scalar_v<std::remove_cvref_t<decltype(*x.begin())>>)
        for (auto& one : x) for_each_tensor(one, f);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply(each, x);
  } else if constexpr (meta::plain_struct<T>) {
    meta::for_each_field(x, [&f](auto& member) { for_each_tensor(member, f); });
  }
}

}  // namespace redco::tensors
