#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace redco::meta {

/// A description of the parameter and result types of a callable: a function pointer, or an object
/// with exactly one call operator that is no template. `known` is false for every other callable,
/// such as a generic lambda, because only a call reveals its types. `on_const` is true if a const
/// object can be called.
template <class F>
struct signature {
  static constexpr bool known = false;
};

}  // namespace redco::meta

namespace redco::meta::detail {

template <bool OnConst, class Result, class... Parameter>
struct known_signature {
  static constexpr bool known = true;
  static constexpr bool on_const = OnConst;
  static constexpr std::size_t arity = sizeof...(Parameter);
  using result = Result;
  template <std::size_t I>
  using parameter = std::tuple_element_t<I, std::tuple<Parameter...>>;
};

template <class Member>
struct call_operator;
template <class F, class R, class... P>
struct call_operator<R (F::*)(P...)> : known_signature<false, R, P...> {};
template <class F, class R, class... P>
struct call_operator<R (F::*)(P...) noexcept> : known_signature<false, R, P...> {};
template <class F, class R, class... P>
struct call_operator<R (F::*)(P...) const> : known_signature<true, R, P...> {};
template <class F, class R, class... P>
struct call_operator<R (F::*)(P...) const noexcept> : known_signature<true, R, P...> {};
template <class F, class R, class... P>
struct call_operator<R (F::*)(P...) const&> : known_signature<true, R, P...> {};
template <class F, class R, class... P>
struct call_operator<R (F::*)(P...) const& noexcept> : known_signature<true, R, P...> {};

}  // namespace redco::meta::detail

namespace redco::meta {

template <class R, class... P>
struct signature<R (*)(P...)> : detail::known_signature<true, R, P...> {};
template <class R, class... P>
struct signature<R (*)(P...) noexcept> : detail::known_signature<true, R, P...> {};
template <class F>
  requires std::is_class_v<F> && requires { detail::call_operator<decltype(&F::operator())>::known; }
struct signature<F> : detail::call_operator<decltype(&F::operator())> {};

}  // namespace redco::meta
