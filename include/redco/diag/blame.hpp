#pragma once

#include <redco/diag/ill_formed.hpp>

namespace redco::diag {

/// A constant that is always false but depends on template arguments. Thus a
/// `static_assert(never<T>, "redco[P001]: ...")` fails only if the enclosing branch is
/// instantiated.
template <class... T>
inline constexpr bool never = false;
template <auto... Value>
inline constexpr bool never_value = false;

/// A condition for static_assert whose failure shows the faulty type `Blamed` and the values in
/// `Check`. `Check` is a structural value with `constexpr bool passed() const`.
///
///   static_assert(redco::diag::verdict<check, layer>{}, "redco[S003]: ...");
///
/// On failure, g++ and clang print one error with `Check` and `Blamed` in the class name. A
/// variable template would give a second error on clang, and a non-constexpr function would give
/// one on g++.
template <auto Check, class Blamed = void>
struct verdict {
  constexpr operator bool() const { return Check.passed(); }
};

}  // namespace redco::diag
