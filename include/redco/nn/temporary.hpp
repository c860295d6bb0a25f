#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>

#include <redco/diag/blame.hpp>

#include <concepts>
#include <type_traits>

namespace redco::nn::detail {

/// Concept of an rvalue argument of type `Value`: a temporary object, which is destroyed at the end
/// of the full expression.
template <class T, class Value>
concept temporary = !std::is_reference_v<T> && std::same_as<std::remove_const_t<T>, Value>;

/// Rejects a temporary pass at compile time with redco[R001], because the caller would keep a
/// dangling reference. Returns its argument so that no second error follows.
template <temporary<pass> T>
pass const& refused_temporary(T const& given) {
  static_assert(diag::never<T>,
                "redco[R001]: a temporary is passed to an object that keeps a reference to it; "
                "write pass const in = worker.pass(...) first, and keep `in` until backward is done");
  return given;
}
template <temporary<parameter_store> T>
parameter_store const& refused_temporary(T const& given) {
  static_assert(diag::never<T>,
                "redco[R001]: a temporary is passed to an object that keeps a reference to it; "
                "write parameter_store const store(...) first, and keep `store` as long as the network");
  return given;
}

}  // namespace redco::nn::detail
