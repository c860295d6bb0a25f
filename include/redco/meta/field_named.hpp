#pragma once

#include <redco/meta/fields.hpp>
#include <redco/meta/fixed_string.hpp>
#include <redco/meta/tuple.hpp>

namespace redco::meta {

template <fixed_string Name, class First, class... Rest>
constexpr auto first_named(First const& first, Rest const&... rest) {
  if constexpr (First::name() == Name.view()) return first;
  else return first_named<Name>(rest...);
}

/// Returns the field with the name `Name` of a reflected struct, for use in a derived struct that
/// offers fewer options:
///
///   struct fewer : opts {
///     static constexpr auto fields() { return redco::fields(redco::meta::field_named<opts, "lr">()); }
///   };
template <reflected Struct, fixed_string Name>
constexpr auto field_named() {
  return hana::unpack(Struct::fields(), [](auto const&... all) { return meta::first_named<Name>(all...); });
}

}  // namespace redco::meta
