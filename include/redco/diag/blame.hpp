#pragma once

#include <redco/diag/ill_formed.hpp>

namespace redco::diag {

/// Always false, but dependent on the template arguments: `static_assert(never<T>, "redco[P001]:
/// ...")` fails only if its branch is instantiated.
template <class... T>
inline constexpr bool never = false;
template <auto... Value>
inline constexpr bool never_value = false;

/// A check for static_assert that names the faulty type. `Check` is a structural value with
/// `constexpr bool passed() const`, whose members are the facts to show (index, extent, width).
///
///   static_assert(redco::diag::verdict<check, layer>{}, "redco[S003]: ...");
///
/// On failure, g++ and clang print one error with `Check` and `Blamed` in the class name. A
/// variable template would give a second error on clang, and a non-constexpr function on g++.
template <auto Check, class Blamed = void>
struct verdict {
  constexpr operator bool() const { return Check.passed(); }
};

}  // namespace redco::diag
