#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace redco::meta {

namespace detail {

/// Converts to whatever a member of `Aggregate` wants, never to the aggregate itself (that would be a copy, not a
/// member). Never called; it has a body because std::optional's constructor, once chosen, makes compilers ask for one.
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

/// Whether `T{value..., {}, value...}` is valid: `{}` stands for exactly one member, which a bare value does not do for
/// a C array, whose elements it fills one by one.
template <class T, std::size_t... I, std::size_t... J>
constexpr bool takes_braces(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{repeated<T, I>{}..., {}, repeated<T, J>{}...}; };
}

/// The largest number of plain initializers of T. It is members plus, for C arrays, their further elements.
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
    return initializers<T, N + 1, now>();  // false at first where a later member has no default
  }
}

/// How many of the `Total` plain initializers the member that starts at `At` takes: one, unless it is a C array.
template <class T, std::size_t Total, std::size_t At, std::size_t Width = 1>
constexpr std::size_t width() {
  if constexpr (At + Width > Total) {
    return 1;  // no `{}` fits at all: a class without a default constructor
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

/// The number of members of the aggregate `T`, found by asking how many initializers it takes. Members that are
/// aggregates, containers, tensors or C arrays count once. Requires: no base class, no member of reference type, a
/// default constructor for classes inside C arrays. Compile time grows with the square of the count.
template <class T>
  requires std::is_aggregate_v<std::remove_cv_t<T>>
inline constexpr std::size_t field_count =
    detail::members<std::remove_cv_t<T>, detail::initializers<std::remove_cv_t<T>>()>();

}  // namespace redco::meta
