#pragma once

#include <redco/meta/detail/tie_members.hpp>
#include <redco/meta/field_count.hpp>
#include <redco/meta/tuple.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// A plain struct (aggregate class), whose members redco can visit without their names.
template <class T>
concept aggregate = std::is_aggregate_v<std::remove_cvref_t<T>> && std::is_class_v<std::remove_cvref_t<T>>;

/// Returns references to the members of `a`, in the order of declaration, as a `hana::basic_tuple`.
/// The references are const if `a` is const. Requires at most 32 members, all public and none
/// inherited.
template <aggregate Aggregate>
constexpr auto tie_fields(Aggregate& a) {
  return detail::tie_members(a);
}

/// Calls f(member) for each member of `a`, in the order of declaration.
template <aggregate Aggregate, class F>
constexpr void for_each_field(Aggregate& a, F&& f) {
  hana::unpack(detail::tie_members(a), [&f](auto&... members) { (f(members), ...); });
}

/// A struct whose members redco can all visit: an aggregate with at most 32 members, none
/// inherited.
template <class T>
concept plain_struct = aggregate<T> && !detail::inherits<T>() && field_count<T> <= 32;

}  // namespace redco::meta

namespace redco::meta::detail {

/// A union with an object of type T that is never constructed. The addresses of the object's
/// members yield the names of the members. Not constexpr, because not every type T can be.
template <class T>
union unmade {
  char none;
  T object;
  constexpr unmade() : none() {}
  ~unmade() {}
};
template <class T>
inline unmade<T> const example{};

/// A pointer to a member of an object, wrapped in a class, because clang accepts no bare pointer to
/// a member as a template argument.
template <class T>
struct member_pointer {
  T const* at;
};

template <auto Member>
constexpr std::string_view written_member() {
  return __PRETTY_FUNCTION__;
}

/// Returns the name of a member from the compiler's text for a function, __PRETTY_FUNCTION__: the
/// last identifier before the last closing brace. g++ writes "(&
/// example<T>.unmade<T>::object.T::name)}; ...", and clang writes "{&example.object.name}]".
constexpr std::string_view member_in(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::size_t const last = text.find_last_of(letters, text.rfind('}'));
  std::size_t const before = text.find_last_not_of(letters, last);
  return text.substr(before + 1, last - before);
}

template <class T>
constexpr member_pointer<T> as_member_pointer(T const& member) {
  return {&member};
}

template <class T, std::size_t I>
constexpr auto pointer_to_member() {
  return as_member_pointer(hana::at_c<I>(tie_members(example<T>.object)));
}

}  // namespace redco::meta::detail

namespace redco::meta {

/// Names of the members of the aggregate T, in the order of declaration. Requires at most 32
/// members, all public and none inherited.
template <aggregate T>
inline constexpr auto member_names = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{
      detail::member_in(detail::written_member<detail::pointer_to_member<T, I>()>())...};
}
(std::make_index_sequence<field_count<T>>{});

}  // namespace redco::meta
