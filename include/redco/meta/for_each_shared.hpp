#pragma once

#include <redco/meta/fields.hpp>
#include <redco/meta/tuple.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace redco::meta::detail {

template <reflected T>
inline constexpr auto field_names = hana::unpack(T::fields(), [](auto const&... all) {
  return std::array<std::string_view, sizeof...(all)>{all.name()...};
});

template <reflected T>
constexpr std::size_t field_index(std::string_view name) {
  auto const& names = field_names<T>;
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace redco::meta::detail

namespace redco::meta {

/// Calls f(member of `from`, member of `to`) for each field name that both reflected structs have,
/// in the order of the fields of `to`. Example, which copies the members of equal names:
/// `for_each_shared(from, to, [](auto const& value, auto& copy) { copy = value; })`.
template <reflected From, reflected To, class F>
constexpr void for_each_shared(From const& from, To& to, F&& f) {
  for_each_named(to, [&]<class Field>(Field const&, auto& member) {
    constexpr std::size_t at = detail::field_index<From>(Field::name());
    if constexpr (at < detail::field_names<From>.size()) f(from.*(hana::at_c<at>(From::fields()).member), member);
  });
}

}  // namespace redco::meta
