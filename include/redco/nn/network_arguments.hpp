#pragma once

#include <redco/nn/parameter_store.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/blame.hpp>
#include <redco/diag/error.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>

namespace redco::nn::detail {

/// Concept of an rvalue argument of type `Value`: a temporary object, which is destroyed at the end
/// of the full expression.
template <class T, class Value>
concept temporary = !std::is_reference_v<T> && std::same_as<std::remove_const_t<T>, Value>;

/// Rejects a temporary pass at compile time with redco[R001], because the caller would keep a
/// dangling reference. Returns its argument so that no second error follows.
template <temporary<pass> T>
pass const& refused_temporary(T const& temporary_value) {
  static_assert(diag::never<T>,
                "redco[R001]: a temporary is passed to an object that keeps a reference to it; "
                "write pass const in = worker.pass(...) first, and keep `in` until backward is done");
  return temporary_value;
}
template <temporary<parameter_store> T>
parameter_store const& refused_temporary(T const& temporary_value) {
  static_assert(diag::never<T>,
                "redco[R001]: a temporary is passed to an object that keeps a reference to it; "
                "write parameter_store const store(...) first, and keep `store` as long as the network");
  return temporary_value;
}

/// Returns the network's input `x` on the device of the parameters, without gaps in memory. Layers
/// would save a copy in place of a view such as ids.slice(1, 0, -1). Converts a floating-point `x`
/// to the network's compute dtype.
inline at::Tensor as_input(at::Tensor const& x, parameter_store const& store) {
  if (!x.defined()) return x;
  at::ScalarType const type = x.is_floating_point() ? tensors::scalar_type_of(store.compute()) : x.scalar_type();
  at::Tensor const own = x.scalar_type() == type && x.device() == store.device() ? x : x.to(store.device(), type);
  return own.contiguous(own.suggest_memory_format());
}

/// Throws `error` with exit code 70 if a caller substitutes `passed` parameter tensors in a network
/// that has `taken` parameters.
inline void check_substitutes(std::size_t passed, std::size_t taken) {
  if (passed == taken) return;
  throw error(exit_code::internal, "the network takes " + std::to_string(taken) + " parameters and is given " +
                                       std::to_string(passed) + "; pass one for each of parameters()");
}

}  // namespace redco::nn::detail
