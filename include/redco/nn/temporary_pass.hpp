#pragma once

#include <redco/nn/pass.hpp>

#include <redco/diag/blame.hpp>

#include <concepts>
#include <type_traits>

namespace redco::detail {

/// A pass that ends with the expression in which it is made.
template <class T>
concept temporary_pass = !std::is_reference_v<T> && std::same_as<std::remove_const_t<T>, pass>;

/// Refuses a temporary pass; returns it so that no second error follows. Errors: redco[R001].
template <temporary_pass T>
pass const& refused_temporary(T const& given) {
  static_assert(diag::never<T>,
                "redco[R001]: a temporary is given to what keeps a reference to it; "
                "write pass const in = worker.pass(...) first, and keep `in` until backward is done");
  return given;
}

}  // namespace redco::detail
