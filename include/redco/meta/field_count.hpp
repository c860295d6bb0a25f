#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::meta::detail {

/// A placeholder that converts to any type except `Aggregate`, used to test how many initializers
/// `Aggregate` accepts. A conversion to `Aggregate` itself would be a copy. The operator is never
/// called; it has a body because compilers need one to choose std::optional's constructor.
template <class Aggregate>
struct any_member {
  template <class T>
    requires(!std::is_same_v<T, Aggregate>)
  constexpr operator T() const noexcept { __builtin_unreachable(); }
};

template <class T, std::size_t>
using repeated = any_member<T>;

template <class T, std::size_t... I>
constexpr bool takes_values(std::index_sequence<I...>) {
  return requires { T{repeated<T, I>{}...}; };
}

/// Returns true if `T` can be initialized by `T{value..., {}, value...}`, with a value per index
/// `I` before `{}` and per index `J` after it. `{}` initializes exactly one member of T, even a C
/// array; values without braces would initialize the array's elements one by one.
template <class T, std::size_t... I, std::size_t... J>
constexpr bool takes_braces(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{repeated<T, I>{}..., {}, repeated<T, J>{}...}; };
}

/// Returns the largest number of initializers that the aggregate T accepts without inner braces. A
/// C array of n elements takes n initializers, any other member takes 1.
template <class T, std::size_t N = 0, bool Before = false>
constexpr std::size_t initializers() {
  static_assert(N <= 256,
                "redco: an aggregate of tensors and options, with at most 256 elements in C arrays, is expected here");
  constexpr bool now = takes_values<T>(std::make_index_sequence<N>{});
  if constexpr (Before && !now) {
    return N - 1;
  } else if constexpr (N > 256) {
    return 0;
  } else {
    // The first counts fail if a later member has no default.
    return initializers<T, N + 1, now>();
  }
}

/// Returns the number of initializers that one member of the aggregate T takes: 1, or the number of
/// elements of a C array. `At` is the index of the member's first initializer. `Total` is the
/// number of all initializers of T.
template <class T, std::size_t Total, std::size_t At, std::size_t Width = 1>
constexpr std::size_t width() {
  if constexpr (At + Width > Total) {
    return 1;  // No `{}` fits: the member is a class without a default constructor.
  } else if constexpr (takes_braces<T>(std::make_index_sequence<At>{},
                                       std::make_index_sequence<Total - At - Width>{})) {
    return Width;
  } else {
    return width<T, Total, At, Width + 1>();
  }
}

template <class T, std::size_t Total, std::size_t At = 0>
constexpr std::size_t members() {
  if constexpr (At >= Total) {
    return 0;
  } else {
    return 1 + members<T, Total, At + width<T, Total, At>()>();
  }
}

}  // namespace redco::meta::detail

namespace redco::meta {

/// Number of members of the aggregate `T`, found by tests of how many initializers T accepts. A
/// member that is an aggregate, container, tensor or C array counts once. Requires no base class,
/// no reference members, and default constructors for classes inside C arrays. Compile time grows
/// with the square of the number of members.
template <class T>
  requires std::is_aggregate_v<std::remove_cv_t<T>>
inline constexpr std::size_t field_count =
    detail::members<std::remove_cv_t<T>, detail::initializers<std::remove_cv_t<T>>()>();

}  // namespace redco::meta
