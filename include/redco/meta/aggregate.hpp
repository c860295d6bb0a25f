#pragma once

#include <redco/meta/detail/tie_members.hpp>
#include <redco/meta/field_count.hpp>
#include <redco/meta/tuple.hpp>

#include <type_traits>

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

}  // namespace redco::meta
