#pragma once

#include <redco/meta/aggregate.hpp>
#include <redco/meta/field_count.hpp>

#include <type_traits>

namespace redco::meta::detail {

/// A placeholder that converts to any base class of T. If it can be the first initializer of the
/// aggregate T, then T has a base class.
template <class T>
struct any_base {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};

template <class T>
constexpr bool inherits() {
  return requires { T{any_base<T>{}}; };
}

}  // namespace redco::meta::detail

namespace redco::meta {

/// A struct whose members redco can all visit: an aggregate with at most 32 members, none
/// inherited.
template <class T>
concept plain_struct = aggregate<T> && !detail::inherits<T>() && field_count<T> <= 32;

}  // namespace redco::meta
