#pragma once

#include <redco/meta/fields.hpp>
#include <redco/meta/fixed_string.hpp>
#include <redco/meta/tuple.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace redco::meta::detail {

template <fixed_string... Name>
constexpr bool is_one_of([[maybe_unused]] std::string_view name) {
  return ((name == Name.view()) || ...);
}

/// Returns the indices of the fields in the tuple whose names are not among `Name`, in ascending
/// order. `Kept` is the number of these fields.
template <std::size_t Kept, fixed_string... Name, class... Field>
constexpr std::array<std::size_t, Kept> kept_fields(hana::basic_tuple<Field...> const&) {
  std::array<std::size_t, Kept> kept{};
  std::size_t at = 0, next = 0;
  auto const look_at = [&](std::string_view name) {
    if (!is_one_of<Name...>(name)) kept[next++] = at;
    ++at;
  };
  (look_at(Field::name()), ...);
  return kept;
}

template <fixed_string Name, class... Field>
constexpr bool is_among(hana::basic_tuple<Field...> const&) {
  return ((Field::name() == Name.view()) || ...);
}

template <class... Field>
constexpr std::size_t count_of(hana::basic_tuple<Field...> const&) {
  return sizeof...(Field);
}

/// A reflected struct that has a field with the name `Name`.
template <class Struct, fixed_string Name>
concept has_field = is_among<Name>(Struct::fields());

}  // namespace redco::meta::detail

namespace redco::meta {

/// Returns the fields of a reflected struct except the fields with the names `Name`, which must
/// exist. For use in a derived struct that offers fewer options:
///
///   struct short_options : my_options {
///     static constexpr auto fields() { return redco::meta::fields_without<my_options, "epochs">(); }
///   };
template <reflected Struct, fixed_string... Name>
  requires(meta::detail::has_field<Struct, Name>&&...)
constexpr auto fields_without() {
  constexpr auto all = Struct::fields();
  constexpr std::size_t many = meta::detail::count_of(all) - sizeof...(Name);
  constexpr auto kept = meta::detail::kept_fields<many, Name...>(all);
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return fields(hana::at_c<kept[I]>(all)...); }
  (std::make_index_sequence<many>{});
}

}  // namespace redco::meta
