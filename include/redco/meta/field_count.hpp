#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::meta {

namespace detail {

/// A placeholder that converts to the type of any member of `Aggregate`, but not to `Aggregate`
/// itself, which would be a copy. Never called. It has a body because compilers ask for one when
/// they choose std::optional's constructor.
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

/// Returns true if `T{value..., {}, value...}` is valid. `{}` initialises exactly one member, even
/// a C array, whose elements bare values would fill one by one.
template <class T, std::size_t... I, std::size_t... J>
constexpr bool takes_braces(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{repeated<T, I>{}..., {}, repeated<T, J>{}...}; };
}

/// Returns the largest number of initializers of T without inner braces: the number of members,
/// plus the additional elements of C arrays.
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

/// Returns the number of the `Total` initializers that belong to the member starting at initializer
/// `At`: 1, or the number of elements of a C array.
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

}  // namespace detail

/// Number of members of the aggregate `T`, found by testing how many initializers it accepts. A
/// member that is an aggregate, container, tensor or C array counts once. Requires no base class,
/// no reference members, and default constructors for classes inside C arrays. Compile time grows
/// with the square of the count.
template <class T>
  requires std::is_aggregate_v<std::remove_cv_t<T>>
inline constexpr std::size_t field_count =
    detail::members<std::remove_cv_t<T>, detail::initializers<std::remove_cv_t<T>>()>();

}  // namespace redco::meta
