#pragma once

#include <redco/meta/fixed_string.hpp>
#include <redco/meta/tuple.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace redco {

/// A field, which describes one member of a reflected struct. Holds its name (part of the type), a
/// pointer to it, a sentence about the member, and the smallest number that it may hold.
template <fixed_string Name, class Class, class Type>
struct field_of {
  using class_type = Class;
  using value_type = Type;

  Type Class::*member;
  std::string_view about;
  /// True if the default has no meaning, so that the member must be set explicitly.
  bool required = false;
  /// Smallest number that the member may hold.
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  /// Title under which a program's help text lists the member, such as "mesh"; empty for none.
  std::string_view group = {};

  /// Returns this field with a lower bound:
  /// `field<"epochs">(&options::epochs, "passes over the data").at_least(1)`. Readers of options
  /// reject smaller numbers.
  constexpr field_of at_least(std::int64_t number) const {
    field_of bounded = *this;
    bounded.least = number;
    return bounded;
  }

  /// Returns this field with the title of a group of options for the help text:
  /// `field<"epochs">(&options::epochs, "passes over the data").in_group("training")`.
  constexpr field_of in_group(std::string_view title) const {
    field_of grouped = *this;
    grouped.group = title;
    return grouped;
  }

  static constexpr std::string_view name() { return Name.view(); }
};

/// Returns a field that names a member:
/// `field<"epochs">(&options::epochs, "passes over the training data")`.
template <fixed_string Name, class Class, class Type>
constexpr field_of<Name, Class, Type> field(Type Class::*member, std::string_view about = {}) {
  return {member, about};
}

/// Returns a field whose member must be set:
/// `required_field<"model">(&options::model, "folder of the model")`.
template <fixed_string Name, class Class, class Type>
constexpr field_of<Name, Class, Type> required_field(Type Class::*member, std::string_view about = {}) {
  return {member, about, true};
}

/// Returns the given fields as a tuple. A reflected struct returns this tuple from
/// `static constexpr auto fields()`, with the fields in display order.
template <class... Field>
constexpr hana::basic_tuple<Field...> fields(Field... list) {
  return hana::basic_tuple<Field...>{list...};
}

/// A struct that names its members: `static constexpr auto fields()` returns `redco::fields(...)`.
///   struct o {
///     int epochs = 3;
///     static constexpr auto fields() { return redco::fields(redco::field<"epochs">(&o::epochs)); }
///   };
template <class T>
concept reflected = std::is_class_v<std::remove_cvref_t<T>> && requires {
  std::remove_cvref_t<T>::fields();
};

/// Calls f(field, member) for each field of `object`: `field` has name and sentence, `member` is a
/// reference. A member that is itself reflected is passed as a whole; call for_each_named again for
/// its fields.
template <reflected T, class F>
constexpr void for_each_named(T& object, F&& f) {
  hana::unpack(std::remove_cv_t<T>::fields(), [&](auto const&... field) { (f(field, object.*(field.member)), ...); });
}

}  // namespace redco
