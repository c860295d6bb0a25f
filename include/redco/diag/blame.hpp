#pragma once

#include <redco/diag/ill_formed.hpp>

namespace redco::diag {

/// False, but only once the types are known: `static_assert(never<T>, "redco[P001]: ...")` in a branch that must not be
/// reached.
template <class... T>
inline constexpr bool never = false;
template <auto... Value>
inline constexpr bool never_value = false;

/// A check that names its culprit. `Check` is a structural value with `constexpr bool passed() const`, and holds the
/// facts a reader needs (index, extent, width) as members; `Blamed` is the type at fault. The class is asked in a
/// static_assert:
///
///   static_assert(redco::verdict<check, layer>{}, "redco[S003]: ...");
///
/// On failure both compilers print one error, with `Check` and `Blamed` in the name of the class: a variable template
/// gives a second error on clang, a function that is not constexpr one on g++.
template <auto Check, class Blamed = void>
struct verdict {
  constexpr operator bool() const { return Check.passed(); }
};

}  // namespace redco::diag
