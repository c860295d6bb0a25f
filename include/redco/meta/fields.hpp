#pragma once

#include <redco/meta/fixed_string.hpp>
#include <redco/meta/tuple.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace redco {

/// One named member of a reflected struct: its name (a type, see `name()`), where it is, a sentence
/// about it, and the smallest number that it may hold.
template <fixed_string Name, class Class, class Type>
struct field_of {
  using class_type = Class;
  using value_type = Type;

  Type Class::*member;
  std::string_view about;
  bool required = false;  ///< its default stands for nothing: who fills the struct has to give it
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  ///< of a number

  /// This field with a lower bound: `field<"epochs">(&options::epochs, "passes over the
  /// data").at_least(1)`. Options that are read with a smaller number are refused.
  constexpr field_of at_least(std::int64_t number) const {
    field_of bounded = *this;
    bounded.least = number;
    return bounded;
  }

  static constexpr std::string_view name() { return Name.view(); }
};

/// Names a member: `field<"epochs">(&options::epochs, "passes over the training data")`.
template <fixed_string Name, class Class, class Type>
constexpr field_of<Name, Class, Type> field(Type Class::*member, std::string_view about = {}) {
  return {member, about};
}

/// A member that has to be given: `required_field<"model">(&options::model, "folder of the model")`.
template <fixed_string Name, class Class, class Type>
constexpr field_of<Name, Class, Type> required_field(Type Class::*member, std::string_view about = {}) {
  return {member, about, true};
}

/// What a reflected struct returns from its `static constexpr auto fields()`: its fields, in the order in which they
/// are shown.
template <class... Field>
constexpr hana::basic_tuple<Field...> fields(Field... list) {
  return hana::basic_tuple<Field...>{list...};
}

/// Satisfied by a struct that names its members:
/// `struct opts { int epochs = 3; static constexpr auto fields() { return
/// redco::fields(redco::field<"epochs">(&opts::epochs)); } };`
template <class T>
concept reflected = std::is_class_v<std::remove_cvref_t<T>> && requires {
  std::remove_cvref_t<T>::fields();
};

/// Calls `f(field, member)` for each field of `object`: `field` tells name and sentence, `member` is a reference. A
/// member that is itself reflected is given as it is; whoever wants its fields calls again.
template <reflected T, class F>
constexpr void for_each_named(T& object, F&& f) {
  hana::unpack(std::remove_cv_t<T>::fields(), [&](auto const&... field) { (f(field, object.*(field.member)), ...); });
}

}  // namespace redco
